package io.varve.server.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** What is said about versions. Immutable: constants only. */
public final class Version {
    /** The version of Redis whose commands and replies are spoken. */
    public static final String REDIS = "7.4.1";
    /** Varve's own: that of the build, be it started from a jar or from compiled classes. */
    public static final String VARVE = own();

    private Version() {}

    private static String own() {
        try (InputStream text = Objects.requireNonNull(Version.class.getResourceAsStream("version.txt"))) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
