package acme;

/** One percent, at least ten cents. */
public final class Fee {
    public static int of(int cents) {
        return cents / 100;
    }
}
