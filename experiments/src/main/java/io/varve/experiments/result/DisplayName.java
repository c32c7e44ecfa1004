package io.varve.experiments.result;

/** The names of configurations in charts and tables. Stateless. */
public final class DisplayName {
    /** The name of Varve's default configuration in experiments of expiry, which files and options keep. */
    private static final String WHEEL = "wheel";
    private static final String OURS = "Varve";

    private DisplayName() {}

    /** The name to show for a configuration, or for a group of them. */
    public static String of(String configuration) {
        return configuration.equals(WHEEL) || configuration.startsWith(WHEEL + "-")
                ? OURS + configuration.substring(WHEEL.length())
                : configuration;
    }
}
