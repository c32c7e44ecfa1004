package io.varve.server.resp;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the decoder over a buffer that is filled in pieces and moved at every piece. Confined to the test's thread. */
class RequestDecoderTest {
    private static final int THRESHOLD_BYTES = 100;
    private static final Regions REGIONS = new Regions();
    /**
     * The received bytes of a connection: not a buffer of Netty's, whose accesses the leak detector may record.
     */
    private static final long RECEIVED = REGIONS.allocate(1 << 21);
    private static final CountedRuns RUNS = new CountedRuns(THRESHOLD_BYTES, 1 << 20);

    /** Feeds the decoder piece by piece, as a connection does. */
    private static final class Feed {
        private final RequestDecoder decoder = new RequestDecoder(RUNS, new RequestHeapBudget(1 << 20), 1 << 24);
        private final RecordedRequests recorder = new RecordedRequests();
        private byte[] kept = new byte[0];

        void piece(byte[] bytes, int from, int to) {
            int length = kept.length + to - from;
            int taken = 0;
            if (decoder.isFilling()) {
                Memory.copy(bytes, from, RECEIVED, to - from);
                taken = decoder.fill(RECEIVED, to - from);
            }
            Memory.copy(kept, 0, RECEIVED, kept.length);
            Memory.copy(bytes, from + taken, RECEIVED + kept.length, to - from - taken);
            int reached = decoder.decode(RECEIVED, 0, length - taken, Integer.MAX_VALUE, recorder);
            int end = decoder.isFilling() ? reached + decoder.keepBytes() : length - taken;
            kept = Memory.toArray(RECEIVED + reached, end - reached);
        }
    }

    private static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] conversation() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(latin1("*1\r\n$4\r\nPING\r\n*0\r\nSET a \"b c\"\r\n\r\n*-1\r\n"));
        out.writeBytes(latin1("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$250\r\n" + "v".repeat(250) + "\r\n"));
        out.writeBytes(
                latin1("*3\r\n$4\r\nMSET\r\n$101\r\n" + "k".repeat(101) + "\r\n$100\r\n" + "w".repeat(100) + "\r\n"));
        out.writeBytes(latin1("echo 'x'\n*2\r\n$3\r\nGET\r\n$5\r\n\r\n*$\0\r\n"));
        return out.toByteArray();
    }

    private static final List<List<String>> EXPECTED = List.of(List.of("PING"), List.of("SET", "a", "b c"),
            List.of("SET", "", "v".repeat(250)), List.of("MSET", "k".repeat(101), "w".repeat(100)),
            List.of("echo", "x"), List.of("GET", "\r\n*$\0"));

    @Test
    void aConversationIsDecodedWholeOrSplitAtEveryByte() {
        byte[] bytes = conversation();
        for (int split = 0; split <= bytes.length; split++) {
            Feed feed = new Feed();
            feed.piece(bytes, 0, split);
            feed.piece(bytes, split, bytes.length);
            assertThat(feed.recorder.requests()).as("split at %d", split).isEqualTo(EXPECTED);
            assertThat(feed.decoder.error()).isNull();
            assertThat(feed.kept).isEmpty();
        }
        assertThat(RUNS.held()).isZero();
    }

    @Test
    void aConversationIsDecodedByteByByte() {
        byte[] bytes = conversation();
        Feed feed = new Feed();
        for (int i = 0; i < bytes.length; i++) {
            feed.piece(bytes, i, i + 1);
        }
        assertThat(feed.recorder.requests()).isEqualTo(EXPECTED);
        assertThat(RUNS.held()).isZero();
    }

    @Test
    void aRefusedBulkIsDroppedAndTheNextRequestIsUnharmed() {
        int length = (1 << 20) + 1;
        byte[] bytes = latin1("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + length + "\r\n" + "x".repeat(length)
                + "\r\n*1\r\n$4\r\nPING\r\n");
        for (int step : new int[] {1000, 65_536, bytes.length}) {
            Feed feed = new Feed();
            for (int i = 0; i < bytes.length; i += step) {
                feed.piece(bytes, i, Math.min(bytes.length, i + step));
                assertThat(feed.kept.length).isLessThan(1100);
            }
            assertThat(feed.recorder.requests())
                    .isEqualTo(List.of(List.of("SET", "k", "", "refused: MAXMEMORY"), List.of("PING")));
        }
    }

    @Test
    void aClosedConnectionReleasesWhatItHadReceived() {
        Feed feed = new Feed();
        byte[] bytes = latin1("*4\r\n$4\r\nMSET\r\n$200\r\n" + "x".repeat(200) + "\r\n$300\r\nab");
        feed.piece(bytes, 0, bytes.length);
        assertThat(RUNS.held()).isEqualTo(2);
        feed.decoder.close();
        assertThat(RUNS.held()).isZero();
    }

    @Test
    void randomBytesNeverHangOrLeak() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        String alphabet = "*$\r\n0123456789-+ab\"'\\x ";
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[1 + random.nextInt(200)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) (random.nextInt(10) == 0
                        ? random.nextInt(256)
                        : alphabet.charAt(random.nextInt(alphabet.length())));
            }
            if (random.nextBoolean()) {
                byte[] head = latin1("*" + random.nextInt(-1, 4) + "\r\n$" + random.nextInt(-1, 400) + "\r\n");
                System.arraycopy(head, 0, bytes, 0, Math.min(head.length, bytes.length));
            }
            List<List<String>> whole = decode(bytes, bytes.length);
            assertThat(decode(bytes, 1 + random.nextInt(7))).isEqualTo(whole);
            assertThat(RUNS.held()).isZero();
        }
    }

    /**
     * A complete short request is decoded in one pass by the fast path, and byte by byte by the other: both must agree.
     */
    @Test
    void requestsWithAFlawAreDecodedWholeAsByteByByte() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        String[] flaws = {"*", "$", "\r", "\n", "0", "9", "-", "+", ":", "/", "\0", "\u00ff", " "};
        for (int round = 0; round < 1500; round++) {
            StringBuilder text = new StringBuilder();
            for (int request = random.nextInt(1, 5); request > 0; request--) {
                int arguments = random.nextInt(1, 12);
                text.append('*').append(arguments).append("\r\n");
                for (int i = 0; i < arguments; i++) {
                    int length = random.nextInt(4) == 0 ? random.nextInt(0, 130) : random.nextInt(0, 12);
                    text.append('$').append(length).append("\r\n").append("v".repeat(length)).append("\r\n");
                }
            }
            for (int flaw = random.nextInt(3); flaw > 0; flaw--) {
                int at = random.nextInt(text.length());
                text.replace(at, at + random.nextInt(2), flaws[random.nextInt(flaws.length)]);
            }
            byte[] bytes = latin1(text.substring(0, text.length() - random.nextInt(3)));
            assertThat(decode(bytes, bytes.length)).as("%s", text).isEqualTo(decode(bytes, 1));
            assertThat(RUNS.held()).isZero();
        }
    }

    /** How far the search for a line's end has come is of one request, whichever way it is found. */
    @Test
    void aFragmentedShortRequestDoesNotAffectTheInlineRequestBehindIt() {
        byte[] bytes = latin1("*1\r\n$4\r\nPING\r\nX\nECHO y\r\n");
        for (int split = 0; split <= bytes.length; split++) {
            Feed feed = new Feed();
            feed.piece(bytes, 0, split);
            feed.piece(bytes, split, bytes.length);
            assertThat(feed.recorder.requests()).as("split at %d", split)
                    .isEqualTo(List.of(List.of("PING"), List.of("X"), List.of("ECHO", "y")));
        }
    }

    @Test
    void aLengthOfEveryNumberOfDigitsIsRead() {
        for (int length : new int[] {0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 16_384, 16_385}) {
            Feed feed = new Feed();
            byte[] bytes = latin1("*2\r\n$4\r\nECHO\r\n$" + length + "\r\n" + "e".repeat(length) + "\r\n");
            RequestDecoder decoder = new RequestDecoder(new LargeBulks() {
                @Override
                public int thresholdBytes() {
                    return 1 << 20;
                }

                @Override
                public @Nullable ValueRun open(Earlier earlier, int longestArgument, int bulkLength) {
                    throw new AssertionError("none is large");
                }
            }, new RequestHeapBudget(1 << 20), 1 << 24);
            ByteBuf in = UnpooledByteBufAllocator.DEFAULT.directBuffer(bytes.length);
            in.writeBytes(bytes);
            int reached = decoder.decode(ReplyWriter.addressOf(in), 0, bytes.length, Integer.MAX_VALUE, feed.recorder);
            in.release();
            assertThat(reached).isEqualTo(bytes.length);
            assertThat(feed.recorder.requests()).containsExactly(List.of("ECHO", "e".repeat(length)));
        }
    }

    private static List<List<String>> decode(byte[] bytes, int step) {
        Feed feed = new Feed();
        for (int i = 0; i < bytes.length && feed.decoder.error() == null; i += step) {
            feed.piece(bytes, i, Math.min(bytes.length, i + step));
        }
        List<List<String>> requests = feed.recorder.requests();
        requests.add(List.of(String.valueOf(feed.decoder.error())));
        feed.decoder.close();
        return requests;
    }

    @Test
    void onlyReceivedBytesAreCharged() {
        RequestHeapBudget memory = new RequestHeapBudget(1 << 20);
        RequestDecoder decoder = new RequestDecoder(RUNS, memory, 1 << 24);
        RecordedRequests recorder = new RecordedRequests();
        int count = 20_000;
        byte[] bytes = ("*100000\r\n" + "$0\r\n\r\n".repeat(100_000) + "*" + count + "\r\n"
                + "$0\r\n\r\n".repeat(count)).getBytes(StandardCharsets.ISO_8859_1);
        ByteBuf in = UnpooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
        try {
            long address = ReplyWriter.addressOf(in);
            assertThat(decoder.decode(address, 0, 9, 1, recorder)).isZero();
            assertThat(decoder.isInRequest()).isTrue();
            assertThat(memory.reservedBytes()).isZero();
            assertThat(decoder.error()).isNull();
            int second = bytes.length - count * 6 - 8;
            assertThat(decoder.decode(address, 0, bytes.length, 1, recorder)).isEqualTo(second);
            assertThat(decoder.error()).isNull();
            assertThat(memory.reservedBytes()).as("of a request that is refused").isZero();
            assertThat(recorder.requests().getFirst()).hasSize(RequestHeapBudget.FREE_ENTRIES + 1)
                    .endsWith("refused: ARGUMENT_MEMORY");

            assertThat(decoder.decode(address, second, bytes.length, 1, recorder)).isEqualTo(bytes.length);
            assertThat(recorder.requests().getLast()).hasSize(count);
            assertThat(memory.reservedBytes()).as("until it has been executed").isPositive();
            decoder.executed();
            assertThat(memory.reservedBytes()).isZero();
            decoder.close();
        } finally {
            in.release();
        }
    }
}
