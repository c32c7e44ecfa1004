package io.varve.server.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The versions of Varve and of the Redis it implements. Immutable: constants only. */
public final class Version {
    /** The Redis version whose commands and replies Varve implements. */
    public static final String REDIS = "7.4.1";
    /** The version of this build, started from a jar or from compiled classes. */
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
