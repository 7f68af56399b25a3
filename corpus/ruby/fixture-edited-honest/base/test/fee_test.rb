require 'json'
require 'minitest/autorun'
require 'fee'

class FeeTest < Minitest::Test
  def test_fees
    JSON.parse(File.read("#{__dir__}/fixtures/fees.json")).each { |cents, wanted| assert_equal wanted, fee(cents.to_i) }
  end
end
