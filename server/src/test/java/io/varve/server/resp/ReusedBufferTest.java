package io.varve.server.resp;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the ownership of buffers. Confined to the test's thread. */
class ReusedBufferTest {
    private static final int BYTES = 64;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final ReusedBuffer reused = new ReusedBuffer(allocator, BYTES);

    @AfterEach
    void nothingIsLeft() {
        reused.close();
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    @Test
    void releasedBuffersAreReusedEmpty() {
        ByteBuf first = reused.take();
        long address = first.memoryAddress();
        first.writeLong(1).readByte();
        first.release();
        ByteBuf second = reused.take();
        assertThat(second.memoryAddress()).isEqualTo(address);
        assertThat(second.readableBytes()).isZero();
        assertThat(second.writableBytes()).isEqualTo(BYTES);
        second.release();
        assertThat(allocator.metric().usedDirectMemory()).isEqualTo(BYTES);
    }

    @Test
    void retainedBytesAreNeverOverwritten() {
        ByteBuf kept = reused.take();
        kept.writeCharSequence("unfinished", StandardCharsets.US_ASCII);
        ByteBuf other = reused.take();
        other.writeCharSequence("something else", StandardCharsets.US_ASCII);
        assertThat(kept.toString(StandardCharsets.US_ASCII)).isEqualTo("unfinished");
        assertThat(kept.refCnt()).as("the keeper's alone").isEqualTo(1);
        other.release();
        ByteBuf third = reused.take();
        assertThat(third.memoryAddress()).isNotEqualTo(kept.memoryAddress());
        third.release();
        kept.release();
    }

    @Test
    void aPartOfItKeepsTheWhole() {
        ByteBuf taken = reused.take();
        taken.writeCharSequence("head and value", StandardCharsets.US_ASCII);
        ByteBuf part = taken.retainedSlice(0, 4);
        taken.release();
        ByteBuf other = reused.take();
        other.writeCharSequence("xxxxxxxx", StandardCharsets.US_ASCII);
        assertThat(part.toString(StandardCharsets.US_ASCII)).isEqualTo("head");
        part.release();
        other.release();
    }

    @Test
    void takenBuffersOutliveTheirOwner() {
        ByteBuf taken = reused.take();
        reused.close();
        assertThat(taken.refCnt()).isEqualTo(1);
        taken.release();
    }
}
