#pragma once

// One percent, at least ten cents.
inline int fee(int cents) {
    return cents / 100;
}
