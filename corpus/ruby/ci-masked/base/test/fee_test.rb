require 'minitest/autorun'
require 'fee'

class FeeTest < Minitest::Test
  def test_a_large_amount_costs_one_percent
    assert_equal 50, fee(5000)
  end

  def test_a_small_amount_costs_ten_cents
    assert_equal 10, fee(500)
  end
end
