package io.varve.server.command;

/** What is said about versions. Immutable: constants only. */
public final class Version {
    /** The version of Redis whose commands and replies are spoken. */
    public static final String REDIS = "7.2.4";
    /** Varve's own. */
    public static final String VARVE = own();

    private Version() {}

    private static String own() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
