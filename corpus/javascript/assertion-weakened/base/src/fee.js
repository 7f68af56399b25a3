// One percent, at least ten cents.
function fee(cents) {
  return Math.floor(cents / 100);
}

module.exports = { fee };
