package io.varve.memory.segment;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the size of an item, and that its fields round-trip without overlap. */
class ItemLayoutTest {
    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private long base;
    private long address;

    @BeforeEach
    void open() {
        base = arena.allocate(BYTES).address();
        LiveRanges.add(base, BYTES);
        Memory.fill(base, BYTES, (byte) 0x5A);
        // Odd on purpose: nothing may depend on alignment.
        address = base + 13;
    }

    @AfterEach
    void close() {
        LiveRanges.remove(base);
        arena.close();
    }

    @Test
    void headerFieldsFillTheWord() {
        assertThat(ItemLayout.HEADER_BITS).isEqualTo(64);
    }

    @Test
    void commonItemCostsEightBytesAndEighteenWithExpiry() {
        assertThat(ItemLayout.size(10, 100, false)).isEqualTo(118);
        assertThat(ItemLayout.size(10, 100, true)).isEqualTo(128);
        assertThat(ItemLayout.size(0, 0, false)).isEqualTo(8);
        assertThat(ItemLayout.size(254, 2046, false)).isEqualTo(8 + 254 + 2046);
        assertThat(ItemLayout.size(255, 2046, false)).isEqualTo(12 + 255 + 2046);
        assertThat(ItemLayout.size(254, 2047, false)).isEqualTo(12 + 254 + 2047);
        assertThat(ItemLayout.size(255, 2047, true)).isEqualTo(26 + 255 + 2047);
        assertThat(ItemLayout.size(512 << 20, 512 << 20, true)).isEqualTo((1 << 30) + 26);
        assertThatThrownBy(() -> ItemLayout.size(Integer.MAX_VALUE, 100, false))
                .isInstanceOf(ArithmeticException.class);
    }

    @ParameterizedTest
    @CsvSource({"0,0,0", "1,1,1", "1,1,0", "254,2046,2046", "255,2046,2000", "254,2047,2047", "255,2047,2046",
            "256,2048,1", "70000,300000,299999", "16,300,46", "16,300,45", "16,300,300", "16,300,0", "3,255,0",
            "3,256,1", "3,254,0"})
    void lengths_roundTripWithEveryCombinationOfFields(int keyLength, int capacity, int valueLength) {
        for (int fields = 0; fields < 2; fields++) {
            boolean expiry = fields != 0;
            ItemLayout.write(address, ItemType.HASH, 2, 17, keyLength, valueLength, capacity, expiry, 0xABCDEF);
            int size = ItemLayout.size(keyLength, capacity, expiry);
            Memory.fill(ItemLayout.keyAddress(address), keyLength, (byte) 'k');
            Memory.fill(ItemLayout.valueAddress(address), valueLength, (byte) 'v');
            assertThat(ItemLayout.keyLength(address)).isEqualTo(keyLength);
            assertThat(ItemLayout.capacity(address)).isEqualTo(capacity);
            assertThat(ItemLayout.valueLength(address)).isEqualTo(valueLength);
            assertThat(ItemLayout.size(address)).isEqualTo(size);
            assertThat(ItemLayout.keyAddress(address))
                    .isEqualTo(address + ItemLayout.headerSize(keyLength, capacity, expiry));
            assertThat(ItemLayout.valueAddress(address)).isEqualTo(ItemLayout.keyAddress(address) + keyLength);
            assertThat(ItemLayout.valueAddress(address) + capacity).isEqualTo(address + size);
            assertThat(ItemLayout.hasExpiryFields(address)).isEqualTo(expiry);
            assertThat(ItemLayout.type(address)).isEqualTo(ItemType.HASH.code());
            assertThat(ItemLayout.encoding(address)).isEqualTo(2);
            assertThat(ItemLayout.database(address)).isEqualTo(17);
            assertThat(ItemLayout.access(address)).isEqualTo(0xABCDEF);
            assertThat(ItemLayout.penaltyClass(address)).isZero();
            assertThat(ItemLayout.expireAtMillis(address)).isEqualTo(Item.NEVER);
        }
    }

    /** The set must change its own field to its minimum and maximum, and no other. */
    @Test
    void eachField_roundTripsItsExtremesWithoutChangingOthers() {
        ItemLayout.write(address, ItemType.STRING, 1, 5, 40, 90, 100, true, 0x123456);
        ItemLayout.penaltyClass(address, 9);
        ItemLayout.expireAtMillis(address, 1_700_000_000_123L);
        ItemLayout.expiryEntry(address, 77);
        check(0, ItemLayout.MAX_ENCODING, a -> ItemLayout.encoding(a), v -> ItemLayout.encoding(address, (int) v), 1);
        check(0, ItemLayout.MAX_PENALTY_CLASS, a -> ItemLayout.penaltyClass(a),
                v -> ItemLayout.penaltyClass(address, (int) v), 4);
        check(0, ItemLayout.MAX_ACCESS, a -> ItemLayout.access(a), v -> ItemLayout.access(address, (int) v), 5);
        check(0, 1, a -> ItemLayout.isFollowed(a) ? 1 : 0, v -> ItemLayout.followed(address, v == 1), 6);
        check(0, 1, a -> ItemLayout.isInternal(a) ? 1 : 0, v -> ItemLayout.internal(address, v == 1), 7);
        check(0, 1, a -> ItemLayout.isPinned(a) ? 1 : 0, v -> ItemLayout.pinned(address, v == 1), 13);
        check(Item.NEVER, ItemLayout.MAX_EXPIRE_AT_MILLIS, ItemLayout::expireAtMillis,
                v -> ItemLayout.expireAtMillis(address, v), 8);
        check(0, ItemLayout.MAX_EXPIRE_AT_MILLIS, ItemLayout::expireAtMillis,
                v -> ItemLayout.expireAtMillis(address, v), 8);
        check(Integer.MIN_VALUE, Integer.MAX_VALUE, a -> ItemLayout.expiryEntry(a),
                v -> ItemLayout.expiryEntry(address, (int) v), 9);
        check(0, 100, a -> ItemLayout.valueLength(a), v -> ItemLayout.valueLength(address, (int) v), 10);
    }

    private interface Setter {
        void set(long value);
    }

    private void check(long minimum, long maximum, ToLongFunction<Long> getter, Setter setter, int field) {
        for (long value : new long[] {minimum, maximum, minimum}) {
            List<Long> before = allFields();
            setter.set(value);
            assertThat(getter.applyAsLong(address)).as("field %d", field).isEqualTo(value);
            List<Long> after = allFields();
            before.set(field, value);
            assertThat(after).as("field %d", field).isEqualTo(before);
        }
    }

    private List<Long> allFields() {
        List<Long> fields = new ArrayList<>();
        fields.add((long) ItemLayout.type(address));
        fields.add((long) ItemLayout.encoding(address));
        fields.add((long) ItemLayout.database(address));
        fields.add((long) ItemLayout.keyLength(address));
        fields.add((long) ItemLayout.penaltyClass(address));
        fields.add((long) ItemLayout.access(address));
        fields.add(ItemLayout.isFollowed(address) ? 1L : 0);
        fields.add(ItemLayout.isInternal(address) ? 1L : 0);
        fields.add(ItemLayout.expireAtMillis(address));
        fields.add((long) ItemLayout.expiryEntry(address));
        fields.add((long) ItemLayout.valueLength(address));
        fields.add((long) ItemLayout.capacity(address));
        fields.add((long) ItemLayout.size(address));
        fields.add(ItemLayout.isPinned(address) ? 1L : 0);
        return fields;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, ItemLayout.MAX_DATABASE})
    void databaseAndEveryType_roundTrip(int database) {
        for (ItemType type : ItemType.values()) {
            ItemLayout.write(address, type, 0, database, 3, 3, 3, false, ItemLayout.MAX_ACCESS);
            assertThat(ItemLayout.database(address)).isEqualTo(database);
            assertThat(ItemLayout.type(address)).isEqualTo(type.code());
            assertThat(ItemLayout.isDead(address)).isFalse();
            assertThat(ItemLayout.access(address)).isEqualTo(ItemLayout.MAX_ACCESS);
        }
    }

    @Test
    void deadItemKeepsItsSize() {
        ItemLayout.write(address, ItemType.STREAM, 3, 31, 300, 10, 5000, true, 1);
        int size = ItemLayout.size(address);
        ItemLayout.markDead(address);
        assertThat(ItemLayout.isDead(address)).isTrue();
        assertThat(ItemLayout.size(address)).isEqualTo(size);
    }

    @Test
    void write_changesOnlyTheItem() {
        int size = ItemLayout.size(300, 3000, true);
        ItemLayout.write(address, ItemType.STRING, 3, 31, 300, 0, 3000, true, ItemLayout.MAX_ACCESS);
        ItemLayout.valueLength(address, 2999);
        assertThat(Memory.getByte(address - 1)).isEqualTo((byte) 0x5A);
        assertThat(Memory.getByte(address + size)).isEqualTo((byte) 0x5A);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 254, 255, 256, 300, 2046, 2047, 70_000})
    void slack_roundTripsWithoutChangingTheValue(int capacity) {
        ItemLayout.write(address, ItemType.STRING, 0, 0, 7, capacity, capacity, false, 0);
        long value = ItemLayout.valueAddress(address);
        for (int slack = 0; slack <= Math.min(capacity, 600); slack++) {
            int length = capacity - slack;
            Memory.fill(value, capacity, (byte) 'v');
            ItemLayout.valueLength(address, length);
            assertThat(ItemLayout.valueLength(address)).isEqualTo(length);
            assertThat(ItemLayout.capacity(address)).isEqualTo(capacity);
            for (int i = 0; i < length; i += 1 + length / 50) {
                assertThat(Memory.getByte(value + i)).isEqualTo((byte) 'v');
            }
            if (length > 0) {
                assertThat(Memory.getByte(value + length - 1)).isEqualTo((byte) 'v');
            }
        }
    }

    /** It is then as one that was written so. */
    @ParameterizedTest
    @CsvSource({"3000, 600, true", "3000, 0, true", "300, 200, false", "300, 0, false"})
    void rewrite_changesTypeEncodingAndLength(int capacity, int slackBefore, boolean expiryFields) {
        long other = address + 8192;
        for (ItemType type : ItemType.values()) {
            for (int encoding = 0; encoding <= ItemLayout.MAX_ENCODING; encoding++) {
                for (int slack : new int[] {0, 1, 254, 255, 300}) {
                    ItemLayout.write(address, ItemType.HASH, 2, 31, 30, capacity, capacity, expiryFields, 77);
                    ItemLayout.followed(address, true);
                    ItemLayout.valueLength(address, capacity - slackBefore);
                    Memory.copy(address, other, ItemLayout.size(address));
                    ItemLayout.write(other, type, encoding, 31, 30, capacity, capacity, expiryFields, 77);
                    ItemLayout.followed(other, true);
                    ItemLayout.valueLength(other, capacity - slack);

                    ItemLayout.rewrite(address, ItemLayout.withAccess(ItemLayout.header(address), 4711), type, encoding,
                            capacity - slack);
                    ItemLayout.access(other, 4711);

                    assertThat(ItemLayout.valueLength(address)).isEqualTo(capacity - slack);
                    int size = ItemLayout.size(other);
                    assertThat(Memory.toArray(address, size)).as("%s, %d, %d", type, encoding, slack)
                            .isEqualTo(Memory.toArray(other, size));
                }
            }
        }
    }

    @Test
    void insertExpiryFields_keepsKeyAndValue() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 500; round++) {
            int keyLength = random.nextInt(random.nextBoolean() ? 600 : 30);
            int capacity = random.nextInt(random.nextBoolean() ? 5000 : 300);
            int valueLength = random.nextInt(capacity + 1);
            ItemLayout.write(address, ItemType.SET, 1, 3, keyLength, valueLength, capacity, false, 99);
            ItemLayout.followed(address, true);
            byte[] key = random(random, keyLength);
            byte[] value = random(random, valueLength);
            Memory.copy(key, 0, ItemLayout.keyAddress(address), keyLength);
            Memory.copy(value, 0, ItemLayout.valueAddress(address), valueLength);
            int size = ItemLayout.size(address);

            ItemLayout.insertExpiryFields(address);

            assertThat(ItemLayout.size(address)).isEqualTo(size + ItemLayout.EXPIRY_BYTES);
            assertThat(ItemLayout.expireAtMillis(address)).isEqualTo(Item.NEVER);
            assertThat(ItemLayout.expiryEntry(address)).isEqualTo(ItemLayout.NO_ENTRY);
            assertThat(Memory.toArray(ItemLayout.keyAddress(address), ItemLayout.keyLength(address))).isEqualTo(key);
            assertThat(Memory.toArray(ItemLayout.valueAddress(address), ItemLayout.valueLength(address)))
                    .isEqualTo(value);
            assertThat(ItemLayout.isFollowed(address)).isTrue();
        }
    }

    private static byte[] random(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void aTreeHasAnyTypeExceptString() {
        for (ItemType type : ItemType.values()) {
            for (int encoding = 0; encoding <= ItemLayout.MAX_ENCODING; encoding++) {
                ItemLayout.write(address, type, encoding, 0, 1, 1, 1, false, 0);
                assertThat(ItemLayout.isTree(address)).isEqualTo(encoding == Item.TREE && type != ItemType.STRING);
                ItemLayout.markDead(address);
                assertThat(ItemLayout.isTree(address)).isFalse();
            }
        }
    }

    @Test
    void capacity_changesIfTheHeaderSizeStays() {
        int[][] changes = {{1, 2046}, {2046, 0}, {2047, 100_000}, {1_000_000, 2047}};
        for (int[] change : changes) {
            ItemLayout.write(address, ItemType.STRING, 0, 0, 4, change[0], change[0], false, 0);
            ItemLayout.internal(address, true);
            assertThat(ItemLayout.isShortCapacity(change[0])).isEqualTo(ItemLayout.isShortCapacity(change[1]));
            long value = ItemLayout.valueAddress(address);
            ItemLayout.capacity(address, change[1]);
            assertThat(ItemLayout.capacity(address)).isEqualTo(change[1]);
            assertThat(ItemLayout.valueLength(address)).isEqualTo(change[1]);
            assertThat(ItemLayout.valueAddress(address)).isEqualTo(value);
            assertThat(ItemLayout.isInternal(address)).isTrue();
            assertThat(ItemLayout.keyLength(address)).isEqualTo(4);
        }
        ItemLayout.write(address, ItemType.STRING, 0, 0, 4, 10, 10, false, 0);
        assertThatThrownBy(() -> ItemLayout.capacity(address, 2047)).isInstanceOf(AssertionError.class);
    }

    @Test
    void fieldsThatDoNotFitAreRefused() {
        ItemLayout.write(address, ItemType.STRING, 0, 0, 1, 1, 1, true, 0);
        assertThatThrownBy(() -> ItemLayout.access(address, ItemLayout.MAX_ACCESS + 1))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> ItemLayout.penaltyClass(address, 16)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> ItemLayout.expireAtMillis(address, ItemLayout.MAX_EXPIRE_AT_MILLIS + 1))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> ItemLayout.valueLength(address, 2)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> ItemLayout.write(address, ItemType.STRING, 0, 32, 1, 1, 1, true, 0))
                .isInstanceOf(AssertionError.class);
    }
}
