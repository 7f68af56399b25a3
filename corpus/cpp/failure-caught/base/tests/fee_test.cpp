#include <gtest/gtest.h>

#include "fee.hpp"

TEST(Fee, LargeAmountCostsOnePercent) {
    EXPECT_EQ(fee(5000), 50);
}

TEST(Fee, SmallAmountCostsTenCents) {
    EXPECT_EQ(fee(500), 10);
}
