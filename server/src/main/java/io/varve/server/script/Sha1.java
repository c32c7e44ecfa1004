package io.varve.server.script;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/** SHA-1 digests in 40 lower-case hexadecimal digits, the names of scripts. Immutable: static methods only. */
public final class Sha1 {
    /** Digits of a digest. */
    public static final int DIGITS = 40;

    private Sha1() {}

    /** The digest of these bytes. */
    public static String of(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
        } catch (NoSuchAlgorithmException none) {
            throw new IllegalStateException("Every Java platform has SHA-1", none);
        }
    }

    /** A digest in the digits at this address, in any case; null if there is none. */
    public static @Nullable String at(long address, int length) {
        if (length != DIGITS) {
            return null;
        }
        byte[] digits = new byte[DIGITS];
        Memory.copy(address, digits, 0, DIGITS);
        for (int i = 0; i < DIGITS; i++) {
            if (digits[i] >= 'A' && digits[i] <= 'Z') {
                digits[i] = (byte) (digits[i] + 'a' - 'A');
            }
        }
        return new String(digits, StandardCharsets.ISO_8859_1);
    }
}
