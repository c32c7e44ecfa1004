package io.varve.server.pubsub;

import java.util.Arrays;
import java.util.Objects;

import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a channel's name or of a pattern. Immutable; without bytes of its own it is valid as long as the memory
 * that it points at.
 *
 * <p>For a lookup it points at the argument ({@link #at}), so that nothing is copied however long it is. A name that is
 * kept has a copy ({@link #copy}).
 */
public final class Name implements Comparable<Name> {
    /** Constants of FNV-1a. */
    private static final int HASH_SEED = 0x811C9DC5;
    private static final int HASH_FACTOR = 0x01000193;

    private final byte @Nullable [] bytes;
    private final long address;
    private final int length;
    private final int hash;

    private Name(byte @Nullable [] bytes, long address, int length, int hash) {
        this.bytes = bytes;
        this.address = address;
        this.length = length;
        this.hash = hash;
    }

    /** Creates a name that points at native memory. */
    public static Name at(long address, int length) {
        int hash = HASH_SEED;
        for (int i = 0; i < length; i++) {
            hash = (hash ^ Memory.getByte(address + i) & 0xFF) * HASH_FACTOR;
        }
        return new Name(null, address, length, hash);
    }

    /** Creates a name of these bytes, which must not change. */
    public static Name of(byte[] bytes) {
        int hash = HASH_SEED;
        for (byte b : bytes) {
            hash = (hash ^ b & 0xFF) * HASH_FACTOR;
        }
        return new Name(bytes, 0, bytes.length, hash);
    }

    /** This name with bytes of its own. */
    public Name copy() {
        return bytes == null ? new Name(Memory.toArray(address, length), 0, length, hash) : this;
    }

    /** Number of bytes. */
    public int length() {
        return length;
    }

    /** The bytes of a kept name, which must not change. */
    public byte[] bytes() {
        return Objects.requireNonNull(bytes, "a name that does not own its bytes");
    }

    /** Whether another name begins with this one. */
    public boolean isPrefixOf(Name other) {
        return length <= other.length && commonLength(other) == length;
    }

    /** Length of the common prefix of this and another name, bytes. */
    public int commonLength(Name other) {
        int shorter = Math.min(length, other.length);
        int common = 0;
        while (common < shorter && at(common) == other.at(common)) {
            common++;
        }
        return common;
    }

    private byte at(int index) {
        byte[] own = bytes;
        return own == null ? Memory.getByte(address + index) : own[index];
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof Name name) || name.hash != hash || name.length != length) {
            return false;
        }
        if (bytes != null && name.bytes != null) {
            return Arrays.equals(bytes, name.bytes);
        }
        return compareTo(name) == 0;
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Ordered so that a map keeps names of equal hashes sorted, however many collisions a client creates. */
    @Override
    public int compareTo(Name other) {
        int common = commonLength(other);
        return common < length && common < other.length
                ? Byte.compare(at(common), other.at(common))
                : Integer.compare(length, other.length);
    }

    @Override
    public String toString() {
        byte[] own = copy().bytes();
        return new String(own, java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
