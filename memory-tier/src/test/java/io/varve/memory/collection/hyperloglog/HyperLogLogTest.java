package io.varve.memory.collection.hyperloglog;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests HyperLogLogs against bytes that Redis 7.0.15 wrote, and random ones against a plain array of registers.
 * Confined to the test thread.
 */
class HyperLogLogTest {
    private static final int MAX_SPARSE_BYTES = 3000;
    private static final int BUFFER_BYTES = 1 << 17;

    private final Arena arena = Arena.ofConfined();
    private final long hll = arena.allocate(BUFFER_BYTES).address();
    private final long text = arena.allocate(BUFFER_BYTES).address();
    private final long joined = arena.allocate(HyperLogLog.REGISTERS).address();
    private int length;

    @BeforeEach
    void announce() {
        LiveRanges.add(hll, BUFFER_BYTES);
        LiveRanges.add(text, BUFFER_BYTES);
        LiveRanges.add(joined, HyperLogLog.REGISTERS);
        HyperLogLog.create(hll);
        length = HyperLogLog.EMPTY_BYTES;
    }

    @AfterEach
    void forget() {
        LiveRanges.remove(hll);
        LiveRanges.remove(text);
        LiveRanges.remove(joined);
        arena.close();
    }

    private void add(String element) {
        byte[] bytes = element.getBytes(StandardCharsets.US_ASCII);
        Memory.copy(bytes, 0, text, bytes.length);
        changed(HyperLogLog.add(hll, length, text, bytes.length, MAX_SPARSE_BYTES));
    }

    private boolean changed(int after) {
        assertThat(after).isNotEqualTo(HyperLogLog.CORRUPT);
        if (after >= 0) {
            length = after;
            HyperLogLog.outdate(hll);
        }
        return after >= 0;
    }

    private String hex() {
        return HexFormat.of().formatHex(Memory.toArray(hll, length));
    }

    private String digest() throws NoSuchAlgorithmException {
        MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
        return HexFormat.of().formatHex(sha1.digest(Memory.toArray(hll, length)));
    }

    @Test
    void fewElements_haveTheBytesOfRedis() {
        for (String element : new String[] {"a", "b", "c", ""}) {
            add(element);
        }
        assertThat(hex()).isEqualTo("48594c4c01000000000000000000008057318449c08050b1844bfb80425a");
        assertThat(HyperLogLog.estimate(hll, length)).isEqualTo(4);
        assertThat(HyperLogLog.describe(hll, length)).startsWith("Z:").contains(" v:");
    }

    @Test
    void elementsOfAllLengths_haveTheBytesOfRedis() {
        add("x".repeat(7));
        add("y".repeat(8));
        add("z".repeat(9));
        add("w".repeat(1000));
        assertThat(hex()).isEqualTo("48594c4c0100000000000000000000804ed68041e9844a10844926805c02");
    }

    @Test
    void manyElements_haveTheBytesOfRedis() throws NoSuchAlgorithmException {
        Map<Integer, String> digests = Map.of(10, "771d194bc0a419552a28bb34101cac65f9c44a11", 100,
                "18420c79b357dc712f947d5ad9adaea69c07abc3", 1000, "cbc102f9193974f0f609b05e8422f2284dd5caad", 1500,
                "4b60d3648cf58f537de9e724c19a1daa609278ce", 2000, "d09bab20de396d27c8de1cd3021483ab6ba7cb9b", 6000,
                "90b02ca478ecc8a01c8bb0041e1458737191175b");
        Map<Integer, Integer> estimates = Map.of(10, 10, 100, 100, 1000, 1008, 1500, 1509, 2000, 2000, 6000, 5953);
        for (int i = 0; i < 6000; i++) {
            add("e" + i);
            if (digests.containsKey(i + 1)) {
                assertThat(HyperLogLog.keptEstimate(hll)).isEqualTo(-1);
                assertThat(digest()).as("%d elements", i + 1).isEqualTo(digests.get(i + 1));
                long estimate = HyperLogLog.estimate(hll, length);
                assertThat(estimate).isEqualTo(java.util.Objects.requireNonNull(estimates.get(i + 1)).longValue());
                HyperLogLog.keepEstimate(hll, estimate);
                assertThat(HyperLogLog.keptEstimate(hll)).isEqualTo(estimate);
            }
        }
        assertThat(HyperLogLog.isDense(hll)).isTrue();
        assertThat(length).isEqualTo(HyperLogLog.DENSE_BYTES).isEqualTo(12_304);
    }

    @ParameterizedTest
    @ValueSource(ints = {18, 40, 3000, 40_000})
    void randomRegisters_agreeWithTheModel(int maxSparseBytes) {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        int[] model = new int[HyperLogLog.REGISTERS];
        // Few registers, so that opcodes meet, are split and joined; corners of the row among them.
        int near = random.nextInt(HyperLogLog.REGISTERS - 200);
        for (int step = 0; step < 20_000; step++) {
            int index = switch (random.nextInt(10)) {
                case 0 -> 0;
                case 1 -> HyperLogLog.REGISTERS - 1 - random.nextInt(3);
                case 2 -> random.nextInt(HyperLogLog.REGISTERS);
                default -> near + random.nextInt(200);
            };
            int value = 1 + random.nextInt(random.nextInt(5000) == 0 ? 51 : 6);
            boolean changes = value > model[index];
            model[index] = Math.max(model[index], value);
            assertThat(changed(HyperLogLog.raise(hll, length, index, value, maxSparseBytes))).isEqualTo(changes);
            if (step % 500 == 0) {
                check(model);
            }
        }
        check(model);
    }

    private void check(int[] model) {
        assertThat(HyperLogLog.isOne(hll, length)).isTrue();
        HyperLogLog.clearJoined(joined);
        assertThat(HyperLogLog.join(hll, length, joined)).isTrue();
        for (int i = 0; i < model.length; i++) {
            assertThat(HyperLogLog.joinedRegister(joined, i)).as("register %d", i).isEqualTo(model[i]);
        }
        assertThat(HyperLogLog.estimate(hll, length)).isEqualTo(HyperLogLog.joinedEstimate(joined));
        if (!HyperLogLog.isDense(hll)) {
            Memory.copy(hll, text, length);
            assertThat(HyperLogLog.makeDense(text, length)).isEqualTo(HyperLogLog.DENSE_BYTES);
            for (int i = 0; i < model.length; i++) {
                assertThat(HyperLogLog.register(text, i)).isEqualTo(model[i]);
            }
        }
    }

    @Test
    void theLargestSparseRegisterIsThirtyTwo() {
        changed(HyperLogLog.raise(hll, length, 5, 32, MAX_SPARSE_BYTES));
        assertThat(HyperLogLog.isDense(hll)).isFalse();
        changed(HyperLogLog.raise(hll, length, 5, 33, MAX_SPARSE_BYTES));
        assertThat(HyperLogLog.isDense(hll)).isTrue();
        assertThat(HyperLogLog.register(hll, 5)).isEqualTo(33);
    }

    @Test
    void invalidOpcodesAreDetected() {
        add("a");
        for (int cut = 1; cut <= length - HyperLogLog.EMPTY_BYTES; cut++) {
            assertThat(HyperLogLog.estimate(hll, length - cut)).isEqualTo(HyperLogLog.CORRUPT);
            assertThat(HyperLogLog.join(hll, length - cut, joined)).isFalse();
        }
        Memory.putByte(hll + length, (byte) 0);
        assertThat(HyperLogLog.estimate(hll, length + 1)).isEqualTo(HyperLogLog.CORRUPT);
        String before = hex();
        assertThat(HyperLogLog.makeDense(hll, length + 1)).isEqualTo(HyperLogLog.CORRUPT);
        assertThat(hex()).isEqualTo(before);
        // There is no opcode for the last register.
        assertThat(HyperLogLog.raise(hll, length - 2, HyperLogLog.REGISTERS - 1, 1, MAX_SPARSE_BYTES))
                .isEqualTo(HyperLogLog.CORRUPT);
    }

    @Test
    void otherBytesAreNoHyperLogLog() {
        assertThat(HyperLogLog.isOne(hll, length)).isTrue();
        assertThat(HyperLogLog.isOne(hll, 15)).isFalse();
        Memory.putByte(hll + 4, (byte) 2);
        assertThat(HyperLogLog.isOne(hll, length)).isFalse();
        Memory.putByte(hll + 4, (byte) 0);
        assertThat(HyperLogLog.isOne(hll, length)).as("dense, but not as long").isFalse();
        assertThat(HyperLogLog.isOne(hll, HyperLogLog.DENSE_BYTES)).isTrue();
        Memory.putByte(hll, (byte) 'h');
        assertThat(HyperLogLog.isOne(hll, HyperLogLog.DENSE_BYTES)).isFalse();
    }
}
