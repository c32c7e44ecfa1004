package io.varve.server.resp;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.memory.offheap.Memory;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.fuzz.GuardedMemory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Feeds any bytes to the decoder: whatever the fragments, it finds equal requests and errors, reads nothing beyond
 * them, and releases everything. Confined to the test's thread.
 */
public class RequestDecoderFuzzTest {
    /** Longer bulks are received in runs. */
    private static final int THRESHOLD_BYTES = 40;
    /** Longer ones are refused. */
    private static final int MAX_BYTES = 200;
    private static final long LIMIT_BYTES = 1 << 20;

    private static final GuardedMemory RECEIVED = new GuardedMemory(1 << 16);
    private static final GuardedMemory FRESH = new GuardedMemory(1 << 16);

    @AfterAll
    public static void fuzzerTearDown() {
        RECEIVED.close();
        FRESH.close();
    }

    @Test
    void decodingDoesNotDependOnFragmentation() {
        new FuzzRun(fuzzCase()).run();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(RequestDecoderFuzzTest.class, RequestDecoderFuzzTest::fuzzerTestOneInput,
                List.of("*1\r\n$4\r\nPING\r\n*0\r\nSET a \"b c\"\r\n\r\n*-1\r\nget 'x y'\n",
                        "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$50\r\n" + "v".repeat(50) + "\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
                        "*3\r\n$4\r\nMSET\r\n$41\r\n" + "k".repeat(41) + "\r\n$40\r\n" + "w".repeat(40) + "\r\n",
                        "*2\r\n$4\r\nECHO\r\n$201\r\n" + "e".repeat(201) + "\r\n*1\r\n$4\r\nPING\r\n",
                        "*12\r\n" + "$1\r\na\r\n".repeat(12), "echo \"\\x41\\n\\\"\" 'it\\'s' \\x \"a\"\r\n"),
                List.of("\r\n", "\r", "\n", "*", "$", "*1\r\n", "*2\r\n", "$0\r\n\r\n", "$3\r\nGET\r\n", "*-1\r\n",
                        "$-1\r\n",
                        "*2147483647\r\n", "$2147483647\r\n", "$9223372036854775808\r\n", "*10\r\n", "*11\r\n",
                        "$41\r\n",
                        "$16385\r\n", "\0", "\"", "'", "\\x", "0", "00", "+1", " ", "\u00ff"));
    }

    /**
     * The decoded requests, and the error behind them, whole and in pieces, for an authenticated client and another.
     */
    public static void fuzzerTestOneInput(byte[] input) {
        SplittableRandom random = new SplittableRandom(Arrays.hashCode(input));
        for (boolean authenticated : new boolean[] {true, false}) {
            List<List<String>> whole = decode(input, new int[] {input.length}, authenticated, (byte) 0);
            int[] bytes = new int[input.length];
            Arrays.fill(bytes, 1);
            assertThat(decode(input, bytes, authenticated, (byte) '1')).isEqualTo(whole);
            int[] pieces = random.ints(input.length, 1, 1 + Math.max(2, input.length / 2)).toArray();
            assertThat(decode(input, pieces, authenticated, (byte) '\r')).isEqualTo(whole);
        }
    }

    private static List<List<String>> decode(byte[] input, int[] pieces, boolean authenticated, byte front) {
        RequestHeapBudget memory = new RequestHeapBudget(LIMIT_BYTES);
        CountedRuns runs = new CountedRuns(THRESHOLD_BYTES, MAX_BYTES);
        RecordedRequests recorder = new RecordedRequests();
        RequestDecoder decoder = new RequestDecoder(runs, memory, Integer.MAX_VALUE);
        decoder.authenticated(authenticated);
        byte[] kept = {};
        int from = 0;
        for (int piece : pieces) {
            int to = Math.min(input.length, from + piece);
            if (from == to || decoder.error() != null) {
                break;
            }
            int taken = decoder.isFilling() ? decoder.fill(FRESH.put(input, from, to, front), to - from) : 0;
            byte[] all = Arrays.copyOf(kept, kept.length + to - from - taken);
            System.arraycopy(input, from + taken, all, kept.length, to - from - taken);
            long base = RECEIVED.put(all, 0, all.length, front);
            int reached = decoder.decode(base, 0, all.length, Integer.MAX_VALUE, recorder);
            assertThat(reached).isBetween(0, all.length);
            int end = decoder.isFilling() ? reached + decoder.keepBytes() : all.length;
            assertThat(end).isLessThanOrEqualTo(all.length);
            kept = Memory.toArray(base + reached, end - reached);
            decoder.executed();
            assertThat(memory.reservedBytes()).isBetween(0L, LIMIT_BYTES);
            from = to;
        }
        List<List<String>> decoded = recorder.requests();
        decoded.add(List.of(String.valueOf(decoder.error())));
        decoder.close();
        assertThat(runs.held()).as("runs that are held").isZero();
        assertThat(memory.reservedBytes()).isZero();
        return decoded;
    }
}
