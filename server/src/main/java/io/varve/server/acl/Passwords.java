package io.varve.server.acl;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/**
 * Hashes, compares and generates passwords. Immutable: static methods only. The server keeps only SHA-256 hashes, as 64
 * hexadecimal digits.
 */
public final class Passwords {
    private static final int HASH_CHARS = 64;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Passwords() {}

    static String hash(byte[] password) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(password));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Every JDK has SHA-256", impossible);
        }
    }

    static boolean isHash(String text) {
        return text.length() == HASH_CHARS
                && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
    }

    /** Whether one of the hashes is that of the password. Its duration does not reveal how much of a hash matches. */
    static boolean isAmong(String hash, List<String> hashes) {
        byte[] given = hash.getBytes(StandardCharsets.US_ASCII);
        boolean found = false;
        for (String known : hashes) {
            found |= MessageDigest.isEqual(known.getBytes(StandardCharsets.US_ASCII), given);
        }
        return found;
    }

    /** Random hexadecimal digits with the given number of bits, rounded up. */
    public static String generate(int bits) {
        byte[] bytes = new byte[(bits + 7) / 8];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes).substring(0, (bits + 3) / 4);
    }
}
