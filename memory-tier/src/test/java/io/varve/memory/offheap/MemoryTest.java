package io.varve.memory.offheap;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;

import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests reads, writes, copies and comparisons of raw memory. */
class MemoryTest {
    private static final int BYTES = 4096;

    private final Arena arena = Arena.ofConfined();
    private long base;

    @BeforeEach
    void open() {
        base = arena.allocate(BYTES).address();
        LiveRanges.add(base, BYTES);
    }

    @AfterEach
    void close() {
        LiveRanges.remove(base);
        arena.close();
    }

    @Test
    void numbersAreLittleEndianAtAnyAddress() {
        for (int shift = 0; shift < 8; shift++) {
            long address = base + 16 + shift;
            Memory.putLong(address, 0x8877665544332211L);
            for (int i = 0; i < 8; i++) {
                assertThat(Memory.getByte(address + i)).isEqualTo((byte) (0x11 * (i + 1)));
            }
            assertThat(Memory.getLong(address)).isEqualTo(0x8877665544332211L);
            assertThat(Memory.getInt(address)).isEqualTo(0x44332211);
            assertThat(Memory.getShort(address)).isEqualTo((short) 0x2211);
            Memory.putInt(address, -2);
            Memory.putShort(address + 4, Short.MIN_VALUE);
            assertThat(Memory.getInt(address)).isEqualTo(-2);
            assertThat(Memory.getShort(address + 4)).isEqualTo(Short.MIN_VALUE);
            assertThat(Memory.getByte(address + 6)).isEqualTo((byte) 0x77);
        }
    }

    @Test
    void fortyEightBitsAreUnsignedAndTouchNoNeighbour() {
        for (long value : new long[] {0, 1, 0xFFFF_FFFFL, 0x1_0000_0000L, 0x8000_8000_8000L, (1L << 48) - 1}) {
            Memory.fill(base, 16, (byte) 0x5A);
            Memory.putUnsigned48(base + 3, value);
            assertThat(Memory.getUnsigned48(base + 3)).isEqualTo(value);
            assertThat(Memory.getByte(base + 2)).isEqualTo((byte) 0x5A);
            assertThat(Memory.getByte(base + 9)).isEqualTo((byte) 0x5A);
        }
        Memory.putUnsigned48(base, -1);
        assertThat(Memory.getUnsigned48(base)).as("the low 48 bits").isEqualTo((1L << 48) - 1);
    }

    @Test
    void copiesMayOverlapInBothDirections() {
        byte[] bytes = random(100, 1);
        Memory.copy(bytes, 0, base, 100);
        Memory.copy(base, base + 7, 90);
        assertThat(Memory.toArray(base + 7, 90)).isEqualTo(Arrays.copyOf(bytes, 90));
        Memory.copy(bytes, 0, base, 100);
        Memory.copy(base + 7, base, 90);
        assertThat(Memory.toArray(base, 90)).isEqualTo(Arrays.copyOfRange(bytes, 7, 97));
    }

    @Test
    void arrays_roundTripAtAnyOffset() {
        byte[] bytes = random(50, 2);
        Memory.copy(bytes, 10, base + 1, 30);
        byte[] back = new byte[60];
        Memory.copy(base + 1, back, 20, 30);
        assertThat(Arrays.copyOfRange(back, 20, 50)).isEqualTo(Arrays.copyOfRange(bytes, 10, 40));
        assertThat(back[19]).isZero();
        assertThat(back[50]).isZero();
        assertThat(Memory.toArray(base, 0)).isEmpty();
    }

    @Test
    void copiesEveryLengthAndTouchesNoNeighbourAlsoWhereRangesOverlap() {
        int room = 400;
        for (int length = 0; length <= 130; length++) {
            for (int distance : new int[] {-40, -9, -1, 0, 1, 3, 8, 15, 33, 140}) {
                byte[] expected = random(room, length);
                Memory.copy(expected, 0, base, room);
                int from = 60;
                int to = from + distance;
                System.arraycopy(expected, from, expected, to, length);
                Memory.copy(base + from, base + to, length);
                assertThat(Memory.toArray(base, room)).as("length %d, distance %d", length, distance)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void equal_detectsADifferenceAtEveryPosition() {
        long a = base + 1;
        long b = base + 1027;
        for (int length = 0; length <= 70; length++) {
            byte[] bytes = random(length, length);
            Memory.copy(bytes, 0, a, length);
            Memory.copy(bytes, 0, b, length);
            Memory.putByte(a + length, (byte) 1);
            Memory.putByte(b + length, (byte) 2);
            assertThat(Memory.equal(a, b, length)).as("length %d", length).isTrue();
            for (int i = 0; i < length; i++) {
                byte was = Memory.getByte(b + i);
                Memory.putByte(b + i, (byte) (was ^ 0x80));
                assertThat(Memory.equal(a, b, length)).as("length %d, byte %d", length, i).isFalse();
                Memory.putByte(b + i, was);
            }
        }
    }

    @Test
    void compare_ordersUnsignedBytes() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2000; round++) {
            byte[] a = few(random);
            byte[] b = few(random);
            Memory.copy(a, 0, base, a.length);
            Memory.copy(b, 0, base + 1001, b.length);
            assertThat(Integer.signum(Memory.compare(base, a.length, base + 1001, b.length)))
                    .isEqualTo(Integer.signum(Arrays.compareUnsigned(a, b)));
        }
    }

    @Test
    void compare_ofEachLength() {
        for (int length = 0; length < 150; length++) {
            for (int i = 0; i < length; i++) {
                Memory.putByte(base + i, (byte) (i * 37));
                Memory.putByte(base + 1001 + i, (byte) (i * 37));
            }
            assertThat(Memory.compare(base, length, base + 1001, length)).as("length %s", length).isZero();
            for (int i = 0; i < length; i++) {
                assertThat(Memory.compare(base, length, base + 1001, i)).as("%s and %s", length, i).isPositive();
                byte was = Memory.getByte(base + i);
                Memory.putByte(base + i, (byte) (was ^ 0x80));
                int expected = Byte.compareUnsigned((byte) (was ^ 0x80), was);
                assertThat(Integer.signum(Memory.compare(base, length, base + 1001, length)))
                        .as("length %s, byte %s", length, i).isEqualTo(Integer.signum(expected));
                Memory.putByte(base + i, was);
            }
        }
    }

    private static byte[] few(SplittableRandom random) {
        byte[] bytes = new byte[random.nextInt(20)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (random.nextInt(10) == 0 ? 0xFF : 1);
        }
        return bytes;
    }

    @Test
    void fill_writesExactlyTheRange() {
        Memory.fill(base, 64, (byte) 1);
        Memory.fill(base + 5, 20, (byte) -1);
        assertThat(Memory.getByte(base + 4)).isEqualTo((byte) 1);
        assertThat(Memory.getByte(base + 5)).isEqualTo((byte) -1);
        assertThat(Memory.getByte(base + 24)).isEqualTo((byte) -1);
        assertThat(Memory.getByte(base + 25)).isEqualTo((byte) 1);
    }

    @Test
    void checkedModeRefusesEveryAccessThatLeavesALiveRange() {
        long end = base + BYTES;
        byte[] array = new byte[8];
        refused(() -> Memory.getByte(base - 1));
        refused(() -> Memory.getByte(end));
        refused(() -> Memory.putByte(end, (byte) 0));
        refused(() -> Memory.getShort(end - 1));
        refused(() -> Memory.putShort(end - 1, (short) 0));
        refused(() -> Memory.getInt(end - 3));
        refused(() -> Memory.putInt(end - 3, 0));
        refused(() -> Memory.getLong(end - 7));
        refused(() -> Memory.putLong(end - 7, 0));
        refused(() -> Memory.getUnsigned48(end - 5));
        refused(() -> Memory.putUnsigned48(end - 5, 0));
        refused(() -> Memory.copy(base, end - 4, 5));
        refused(() -> Memory.copy(end - 4, base, 5));
        refused(() -> Memory.copy(array, 0, end - 4, 5));
        refused(() -> Memory.copy(end - 4, array, 0, 5));
        refused(() -> Memory.toArray(end - 4, 5));
        refused(() -> Memory.fill(end - 4, 5, (byte) 0));
        refused(() -> Memory.equal(base, end - 4, 5));
        refused(() -> Memory.compare(end - 4, 5, base, 1));
    }

    private static void refused(Runnable access) {
        assertThatThrownBy(access::run).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }
}
