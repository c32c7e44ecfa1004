package io.varve.server.differential.random.lua;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The names of scripts. Immutable: static methods only. */
public final class Digests {
    private Digests() {}

    /** The SHA-1 digest of a script, in hexadecimal digits. */
    public static String sha1(String script) {
        try {
            byte[] bytes = script.getBytes(StandardCharsets.ISO_8859_1);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
        } catch (NoSuchAlgorithmException none) {
            throw new AssertionError(none);
        }
    }
}
