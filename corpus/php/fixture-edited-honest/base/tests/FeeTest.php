<?php

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../src/Fee.php';

final class FeeTest extends TestCase
{
    public function testFees(): void
    {
        foreach (json_decode(file_get_contents(__DIR__ . '/fixtures/fees.json'), true) as $cents => $wanted) {
            $this->assertSame($wanted, fee((int) $cents));
        }
    }
}
