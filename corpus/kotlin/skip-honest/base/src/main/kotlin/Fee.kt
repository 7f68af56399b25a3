package acme

/** One percent, at least ten cents. */
fun fee(cents: Int): Int {
    return cents / 100
}
