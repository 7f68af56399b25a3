# One percent, at least ten cents.
def fee(cents)
  cents / 100
end

def test_rate
  0.01
end
