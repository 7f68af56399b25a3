namespace Acme;

/// <summary>One percent, at least ten cents.</summary>
public static class Fee
{
    public static int Of(int cents)
    {
        return cents / 100;
    }

    public static double TestRate()
    {
        return 0.01;
    }
}
