# One percent, at least ten cents.
def fee(cents)
  cents / 100
end
