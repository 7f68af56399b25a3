namespace Acme;

/// <summary>One percent, at least ten cents.</summary>
public static class Fee
{
    public static int Of(int cents)
    {
        return cents / 100;
    }
}
