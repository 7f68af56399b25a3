package acme

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class FeeTest {
    @Test
    fun aLargeAmountCostsOnePercent() {
        assertEquals(50, fee(5000))
    }

    @Test
    fun aSmallAmountCostsTenCents() {
        assertEquals(10, fee(500))
    }
}
