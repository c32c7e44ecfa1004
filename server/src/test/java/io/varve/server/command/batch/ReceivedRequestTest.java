package io.varve.server.command.batch;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.RequestDecoder;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.Shortage;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The bytes of received commands. Confined to the test's thread. */
class ReceivedRequestTest {
    private static final Regions REGIONS = new Regions();
    private static final long RECEIVED = REGIONS.allocate(1 << 20);

    private final Batch batch = new Batch();

    private void receive(String bytes) {
        byte[] received = latin1(bytes);
        Memory.copy(received, 0, RECEIVED, received.length);
        RequestDecoder decoder = new RequestDecoder(new NoLargeBulks(), new RequestHeapBudget(1 << 20), 1 << 20);
        batch.clear();
        assertThat(decoder.decode(RECEIVED, 0, received.length, Integer.MAX_VALUE, batch)).isEqualTo(received.length);
        assertThat(decoder.error()).isNull();
    }

    private @Nullable String found(int command) {
        long start = ReceivedRequest.start(batch, command);
        return start == ReceivedRequest.NONE
                ? null
                : new String(Memory.toArray(start, (int) (ReceivedRequest.end(batch, command) - start)),
                        StandardCharsets.ISO_8859_1);
    }

    private static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String encoded(String... arguments) {
        StringBuilder text = new StringBuilder("*" + arguments.length + "\r\n");
        for (String argument : arguments) {
            text.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
        }
        return text.toString();
    }

    @Test
    void encodedCommandsAreFoundAsTheyAre() {
        String first = encoded("SET", "k", "v".repeat(1000));
        String second = encoded("mset", "", "", "a\r\n$1\r\nb", "*2\r\n");
        String third = encoded("RPUSH", "1", "2", "3", "4", "5", "6", "7", "8", "9");
        receive(first + second + third);
        assertThat(found(0)).isEqualTo(first);
        assertThat(found(1)).isEqualTo(second);
        assertThat(found(2)).isEqualTo(third);
    }

    @Test
    void randomCommandsAreFoundAsTheyAre() {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.received.seed"));
        for (int round = 0; round < 500; round++) {
            String[] arguments = new String[2 + random.nextInt(12)];
            for (int i = 0; i < arguments.length; i++) {
                byte[] bytes = new byte[random.nextInt(1 << random.nextInt(12))];
                random.nextBytes(bytes);
                arguments[i] = new String(bytes, StandardCharsets.ISO_8859_1);
            }
            String text = encoded(arguments);
            receive(text);
            assertThat(found(0)).isEqualTo(text);
        }
    }

    @Test
    void inlineCommandsAreNotUsed() {
        for (String other : new String[] {"SET k v\r\n", "SET  k   'v'\n", "SET     k      v\r\n"}) {
            // In front of it is a command whose bytes must not be taken for this one's.
            receive(encoded("GET", "a") + other);
            assertThat(batch.commandCount()).as(other).isEqualTo(2);
            assertThat(batch.argumentCount(1)).as(other).isEqualTo(3);
            assertThat(found(1)).as(other).isNull();
        }
    }

    /** The decoder accepts any byte behind the carriage return of a head. */
    @Test
    void otherBytesBehindAHeadAreNotUsed() {
        String whole = encoded("SET", "key", "value");
        int tried = 0;
        for (int at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) {
            receive(whole.substring(0, at) + "X" + whole.substring(at + 1));
            assertThat(batch.commandCount()).as("byte %d", at).isOne();
            assertThat(found(0)).as("byte %d", at).isNull();
            tried++;
        }
        assertThat(tried).isEqualTo(7);
    }

    /** The decoder skips the two bytes behind an argument, whatever they are. */
    @Test
    void otherBytesBehindAnArgumentAreNotUsed() {
        String whole = encoded("SET", "key", "value");
        int tried = 0;
        for (String argument : new String[] {"SET", "key", "value"}) {
            int end = whole.indexOf(argument) + argument.length();
            for (int at = end; at < end + 2; at++) {
                receive(whole.substring(0, at) + "x" + whole.substring(at + 1));
                if (batch.commandCount() == 1) {
                    tried++;
                    assertThat(found(0)).as("byte %d", at).isNull();
                }
            }
        }
        assertThat(tried).isPositive();
    }

    @Test
    void argumentsThatAreElsewhereAreNotUsed() {
        receive(encoded("SET", "key", "value"));
        long value = RECEIVED + (1 << 19);
        Memory.copy(latin1("value"), 0, value, 5);
        batch.beginRequest(3);
        batch.argument(batch.address(0), 3);
        batch.argument(batch.address(1), 3);
        batch.argument(value, 5);
        batch.endRequest(Shortage.NONE);
        assertThat(found(0)).isNotNull();
        assertThat(found(1)).isNull();
    }

    @Test
    void aCommandWithoutArgumentsIsNotUsed() {
        receive(encoded("FLUSHALL"));
        assertThat(found(0)).isNull();
    }

    /** Everything stays in the buffer. Immutable. */
    private static final class NoLargeBulks implements LargeBulks {
        @Override
        public int thresholdBytes() {
            return Integer.MAX_VALUE;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            throw new AssertionError("a bulk of " + length + " bytes");
        }
    }
}
