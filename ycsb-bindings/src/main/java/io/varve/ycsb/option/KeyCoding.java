package io.varve.ycsb.option;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The encoding of YCSB keys on the wire. Immutable. */
public enum KeyCoding {
    /** YCSB's form: "user" and a number, 5 to 24 bytes. */
    YCSB {
        @Override
        public byte[] encode(String key) {
            return key.getBytes(StandardCharsets.UTF_8);
        }
    },
    /**
     * The number after "user" as 8 bytes, most significant first: the 8-byte keys of the bucket-expiry paper (Table 2).
     * Zeros that {@code zeropadding} puts before the number are ignored.
     */
    BINARY8 {
        @Override
        public byte[] encode(String key) {
            if (key.startsWith(PREFIX)) {
                try {
                    long number = Long.parseLong(key, PREFIX.length(), key.length(), 10);
                    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
                } catch (NumberFormatException e) {
                    throw new IllegalArgumentException(refusal(key), e);
                }
            }
            throw new IllegalArgumentException(refusal(key));
        }
    };

    private static final String PREFIX = "user";

    /**
     * Encodes a key.
     *
     * @param key YCSB's key
     * @return its bytes on the wire
     * @throws IllegalArgumentException if this coding cannot represent it
     */
    public abstract byte[] encode(String key);

    private static String refusal(String key) {
        return VarveOptions.KEY + "=binary8: key " + key
                + " is not \"user\" and a whole number of 64 bits; use " + VarveOptions.KEY + "=ycsb for such keys";
    }
}
