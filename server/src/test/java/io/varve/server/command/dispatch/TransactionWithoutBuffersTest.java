package io.varve.server.command.dispatch;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.NoBufferException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Transactions without buffer memory for their replies. Confined to the test's thread. */
class TransactionWithoutBuffersTest {
    private static final int CHUNK_BYTES = 16 << 10;

    /** A buffer source that can be exhausted. Confined to the test's thread. */
    private static final class Buffers extends AbstractByteBufAllocator {
        private boolean isEmpty;

        Buffers() {
            super(true);
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (isEmpty) {
                throw NoBufferException.of(initialCapacity);
            }
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    /**
     * At each place at which the one buffer that there is may be full, the end of an error that a command is answered
     * among them.
     */
    @Test
    void noPartOfItIsLeftOut() {
        Buffers buffers = new Buffers();
        int lost = 0;
        int complete = 0;
        try (CommandHarness server = new CommandHarness(
                ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "2"), buffers)) {
            assertThat(server.run("SET", "long", "v".repeat(CHUNK_BYTES))).isEqualTo("+OK\r\n");
            for (int length = CHUNK_BYTES - 150; length < CHUNK_BYTES; length++) {
                for (String command : new String[] {"MULTI", "SET a " + length, "GETRANGE long 1 " + length,
                        "SETRANGE refused 500000000 v", "SET b " + length}) {
                    assertThat(server.run(command)).as(command).startsWith("+");
                }
                buffers.isEmpty = true;
                try {
                    assertThat(server.run("EXEC")).startsWith("*4\r\n+OK\r\n$").contains("-OOM").endsWith("+OK\r\n");
                    complete++;
                } catch (NoBufferException none) {
                    // Its connection would end with it.
                    server.dropReply();
                    lost++;
                }
                buffers.isEmpty = false;
                server.run("DISCARD");
                assertThat(server.run("GET b")).as("length %d", length).endsWith("\r\n" + length + "\r\n");
            }
        }
        assertThat(lost).isPositive();
        assertThat(complete).isPositive();
    }
}
