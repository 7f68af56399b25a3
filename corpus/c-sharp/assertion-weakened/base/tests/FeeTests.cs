using Xunit;

namespace Acme.Tests;

public class FeeTests
{
    [Fact]
    public void A_large_amount_costs_one_percent()
    {
        Assert.Equal(50, Fee.Of(5000));
    }

    [Fact]
    public void A_small_amount_costs_ten_cents()
    {
        Assert.Equal(10, Fee.Of(500));
    }
}
