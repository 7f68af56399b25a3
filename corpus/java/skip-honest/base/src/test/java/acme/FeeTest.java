package acme;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class FeeTest {
    @Test
    public void aLargeAmountCostsOnePercent() {
        assertEquals(50, Fee.of(5000));
    }

    @Test
    public void aSmallAmountCostsTenCents() {
        assertEquals(10, Fee.of(500));
    }
}
