package io.varve.memory.collection.packed;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed hash, compared with a LinkedHashMap after each. Confined to the test thread. */
class PackedHashModelTest {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int ARGUMENT_BYTES = 1 << 17;

    private final Arena arena = Arena.ofConfined();
    private final long buffer = arena.allocate(BUFFER_BYTES).address();
    private final long field = arena.allocate(ARGUMENT_BYTES).address();
    private final long value = arena.allocate(ARGUMENT_BYTES).address();
    private final Map<String, String> model = new LinkedHashMap<>();
    private int length;

    @BeforeEach
    void announce() {
        LiveRanges.add(field, ARGUMENT_BYTES);
        LiveRanges.add(value, ARGUMENT_BYTES);
        LiveRanges.add(buffer, PackedHash.EMPTY_BYTES);
        PackedHash.clear(buffer);
        length = PackedHash.EMPTY_BYTES;
    }

    @AfterEach
    void forget() {
        LiveRanges.remove(field);
        LiveRanges.remove(value);
        LiveRanges.remove(buffer);
        arena.close();
    }

    /** Makes the live range exactly as long as the hash may be, so that a byte too many is an error. */
    private void ensureCapacity(long bytes) {
        LiveRanges.remove(buffer);
        LiveRanges.add(buffer, bytes);
    }

    private void put(String name, String text) {
        int nameLength = write(field, name);
        int textLength = write(value, text);
        long entry = PackedHash.find(buffer, length, field, nameLength);
        long newBytes = PackedHash.entryBytes(nameLength, textLength);
        long newLength = length + newBytes - (entry == PackedHash.NONE ? 0 : PackedHash.entryBytes(entry));
        ensureCapacity(Math.max(length, newLength));
        length = entry == PackedHash.NONE
                ? PackedHash.append(buffer, length, field, nameLength, value, textLength)
                : PackedHash.replace(buffer, length, entry, value, textLength);
        assertThat((long) length).isEqualTo(newLength);
        ensureCapacity(length);
        model.put(name, text);
    }

    private void remove(String name) {
        long entry = PackedHash.find(buffer, length, field, write(field, name));
        assertThat(entry != PackedHash.NONE).isEqualTo(model.remove(name) != null);
        if (entry != PackedHash.NONE) {
            length = PackedHash.remove(buffer, length, entry);
            ensureCapacity(length);
        }
    }

    private static int write(long address, String text) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        Memory.copy(bytes, 0, address, bytes.length);
        return bytes.length;
    }

    private static String read(long address, int bytes) {
        return new String(Memory.toArray(address, bytes), java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    private void check() {
        assertThat(PackedHash.count(buffer)).isEqualTo(model.size());
        List<String> found = new ArrayList<>();
        for (long entry = PackedHash.first(buffer, length); entry != PackedHash.NONE; entry = PackedHash.next(buffer,
                length, entry)) {
            found.add(read(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry)) + "="
                    + read(PackedHash.valueAddress(entry), PackedHash.valueLength(entry)));
        }
        List<String> expected = new ArrayList<>();
        model.forEach((name, text) -> expected.add(name + "=" + text));
        assertThat(found).isEqualTo(expected);
        for (Map.Entry<String, String> one : model.entrySet()) {
            long entry = PackedHash.find(buffer, length, field, write(field, one.getKey()));
            assertThat(entry).isNotEqualTo(PackedHash.NONE);
            assertThat(read(PackedHash.valueAddress(entry), PackedHash.valueLength(entry))).isEqualTo(one.getValue());
        }
        assertThat(PackedHash.find(buffer, length, field, write(field, "never there"))).isEqualTo(PackedHash.NONE);
    }

    @Test
    void anEmptyHashHasNoFields() {
        check();
        assertThat(PackedHash.first(buffer, length)).isEqualTo(PackedHash.NONE);
    }

    @Test
    void emptyFieldsAndValuesAreValid() {
        put("", "");
        check();
        put("", "x");
        put("f", "");
        check();
        put("", "");
        check();
        remove("");
        check();
    }

    @Test
    void aValueWithAWiderLengthMovesItsField() {
        put("before", "b");
        put("field", "x".repeat(127));
        put("after", "a");
        for (int size : new int[] {128, 127, 0, 128, 0, 16383, 16384, 16383, 1, 16384, 0, 127}) {
            put("field", "y".repeat(size));
            check();
        }
    }

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 4_000; step++) {
            String name = name(random);
            switch (random.nextInt(4)) {
                case 0 -> remove(name);
                case 1 -> put(name, text(random, 300));
                case 2 -> put(name, text(random, 20));
                default -> put(name, random.nextInt(50) == 0 ? text(random, 20_000) : text(random, 3));
            }
            if (length > BUFFER_BYTES / 2) {
                for (String each : new ArrayList<>(model.keySet())) {
                    remove(each);
                }
            }
            check();
        }
        for (String each : new ArrayList<>(model.keySet())) {
            remove(each);
        }
        check();
        assertThat(length).as("seed %d", seed).isEqualTo(PackedHash.EMPTY_BYTES);
    }

    private static String name(SplittableRandom random) {
        int number = random.nextInt(40);
        return number < 20 ? "f" + number : "long-field-name-".repeat(number == 39 ? 12 : 1) + number;
    }

    private static String text(SplittableRandom random, int bound) {
        char letter = (char) random.nextInt(256);
        return String.valueOf(letter).repeat(random.nextInt(bound));
    }
}
