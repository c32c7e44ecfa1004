package io.varve.server.pubsub;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/** The content of a message to be published. Immutable, and valid while its publisher's command runs. */
public final class Content {
    private final long address;
    private final int length;
    private final @Nullable ValueRun run;
    private final byte @Nullable [] bytes;

    private Content(long address, int length, @Nullable ValueRun run, byte @Nullable [] bytes) {
        this.address = address;
        this.length = length;
        this.run = run;
        this.bytes = bytes;
    }

    /**
     * Content in native memory.
     *
     * @param run the memory of a large argument, held by the command: messages share it; null for content that is
     *     copied
     */
    public static Content at(long address, int length, @Nullable ValueRun run) {
        return new Content(address, length, run, null);
    }

    /** Bytes that messages may share, and that must not change. */
    public static Content of(byte[] bytes) {
        return new Content(0, bytes.length, null, bytes);
    }

    long address() {
        return address;
    }

    int length() {
        return length;
    }

    @Nullable
    ValueRun run() {
        return run;
    }

    /** The bytes as an array, which stays valid. */
    byte[] toArray() {
        return bytes == null ? Memory.toArray(address, length) : bytes;
    }
}
