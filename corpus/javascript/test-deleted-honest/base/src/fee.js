// One percent, at least ten cents.
function fee(cents) {
  return Math.floor(cents / 100);
}

function testRate() {
  return 0.01;
}

module.exports = { fee };
