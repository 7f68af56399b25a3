<?php

/** One percent, at least ten cents. */
function fee(int $cents): int
{
    return intdiv($cents, 100);
}
