package io.varve.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.item.ValueRun;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Gives out runs for large bulks, and counts those that are held. Confined to the test's thread. */
final class CountedRuns implements LargeBulks {
    private static final byte CANARY = 0x5a;

    private final int thresholdBytes;
    private final int maxBytes;
    private int held;

    /** @param maxBytes longer bulks are refused */
    CountedRuns(int thresholdBytes, int maxBytes) {
        this.thresholdBytes = thresholdBytes;
        this.maxBytes = maxBytes;
    }

    int held() {
        return held;
    }

    @Override
    public int thresholdBytes() {
        return thresholdBytes;
    }

    @Override
    public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
        assertThat(length).isGreaterThan(thresholdBytes);
        if (length > maxBytes) {
            return null;
        }
        held++;
        return new CountedRun(length);
    }

    /** A run in a direct buffer, with a byte behind it that must not change. */
    private final class CountedRun implements ValueRun {
        private final ByteBuf buffer;

        CountedRun(int length) {
            buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer(length + 1).writerIndex(length).setByte(length,
                    CANARY);
        }

        @Override
        public int headroom() {
            return 0;
        }

        @Override
        public long address() {
            return ReplyWriter.addressOf(buffer);
        }

        @Override
        public int length() {
            return buffer.writerIndex();
        }

        @Override
        public void retain() {
            buffer.retain();
        }

        @Override
        public void release() {
            assertThat(buffer.getByte(length())).isEqualTo(CANARY);
            if (buffer.release()) {
                held--;
            }
        }
    }
}
