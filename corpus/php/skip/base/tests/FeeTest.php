<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../src/Fee.php';

final class FeeTest extends TestCase
{
    public function testALargeAmountCostsOnePercent(): void
    {
        $this->assertSame(50, fee(5000));
    }

    public function testASmallAmountCostsTenCents(): void
    {
        $this->assertSame(10, fee(500));
    }
}
