package io.varve.ycsb.option;

import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * The settings of an encrypted connection. Immutable.
 *
 * @param authorities a file of certificates (PEM) that sign the server's; null for those that the JDK trusts
 * @param verify what is verified of the server's certificate
 */
public record TlsOptions(@Nullable Path authorities, Verify verify) {
    /** {@code false} (default) or {@code true}. */
    public static final String TLS = "varve.tls";
    /** A PEM file; default: the authorities that the JDK trusts. */
    public static final String AUTHORITIES = "varve.tls.ca";
    /** {@code full} (default), {@code ca} or {@code none}. */
    public static final String VERIFY = "varve.tls.verify";

    /** What is verified of the server's certificate. */
    public enum Verify {
        /** Its authority and that it names the host. */
        FULL,
        /** Its authority. */
        CA,
        /** Nothing: anybody may be the server. */
        NONE
    }

    /** @throws IllegalArgumentException with a line that names the property, its value and the allowed values */
    static @Nullable TlsOptions read(PropertyReader reader) {
        String file = reader.text(AUTHORITIES, "");
        Verify verify = reader.choice(VERIFY, Verify.FULL);
        if (!reader.flag(TLS, false)) {
            if (!file.isEmpty()) {
                throw PropertyReader.refused(AUTHORITIES, file, "no value without " + TLS + "=true");
            }
            return null;
        }
        if (file.isEmpty()) {
            return new TlsOptions(null, verify);
        }
        Path path = Path.of(file);
        if (!Files.isReadable(path) || Files.isDirectory(path)) {
            throw PropertyReader.refused(AUTHORITIES, file, "a readable PEM file of certificates");
        }
        return new TlsOptions(path, verify);
    }
}
