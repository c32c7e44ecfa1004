package io.varve.memory.collection.packed;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.memory.collection.PackedBuffer;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a packed list, compared with an ArrayList after each. Confined to the test thread. */
class PackedListModelTest {
    private static final int BUFFER_BYTES = 5 << 20;
    private static final int ELEMENT_BYTES = 3 << 20;
    /** On both sides of where the length of an element takes another byte. */
    private static final int[] SIZES = {0, 1, 126, 127, 128, 129, 16_382, 16_383, 16_384, 16_385, 2_097_151, 2_097_152};

    private final PackedBuffer memory = new PackedBuffer(BUFFER_BYTES, ELEMENT_BYTES);
    private final long buffer = memory.address();
    private final long element = memory.argument();
    private final List<String> model = new ArrayList<>();
    private int length;

    @BeforeEach
    void clear() {
        memory.resize(PackedList.EMPTY_BYTES);
        PackedList.clear(buffer);
        length = PackedList.EMPTY_BYTES;
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private int offset(int index) {
        return PackedList.skip(buffer, PackedList.EMPTY_BYTES, index);
    }

    private void insert(int index, String... texts) {
        int bytes = 0;
        for (String text : texts) {
            bytes += (int) PackedList.entryBytes(text.length());
        }
        memory.resize(length + bytes);
        int at = offset(index);
        PackedList.open(buffer, length, at, bytes, texts.length);
        for (String text : texts) {
            at = PackedList.write(buffer, at, element, memory.write(text));
        }
        length += bytes;
        model.addAll(index, List.of(texts));
        check();
    }

    private void replace(int index, String text) {
        int textLength = memory.write(text);
        int offset = offset(index);
        long more = PackedList.entryBytes(textLength)
                - PackedList.entryBytes(PackedList.elementLength(buffer, offset));
        memory.resize(length + Math.max(0, more));
        length = PackedList.replace(buffer, length, offset, element, textLength);
        model.set(index, text);
        memory.resize(length);
        check();
    }

    private void remove(int from, int to) {
        length = PackedList.remove(buffer, length, offset(from), offset(to), to - from);
        model.subList(from, to).clear();
        memory.resize(length);
        check();
    }

    private void removeEqual(String text, int spared, int max) {
        int textLength = memory.write(text);
        assertThat(PackedList.countEqual(buffer, length, element, textLength))
                .isEqualTo((int) model.stream().filter(text::equals).count());
        length = PackedList.removeEqual(buffer, length, element, textLength, spared, max);
        int seen = 0;
        int removed = 0;
        for (int i = 0; i < model.size() && removed < max; i++) {
            if (model.get(i).equals(text) && seen++ >= spared) {
                model.remove(i--);
                removed++;
            }
        }
        memory.resize(length);
        check();
    }

    private void rotate(boolean firstToLast) {
        int last = model.size() - 1;
        memory.resize(length + PackedList.entryBytes(model.get(firstToLast ? 0 : last).length()));
        if (firstToLast) {
            PackedList.firstToLast(buffer, length);
            model.add(model.removeFirst());
        } else {
            PackedList.lastToFirst(buffer, length, offset(last));
            model.addFirst(model.removeLast());
        }
        memory.resize(length);
        check();
    }

    private void check() {
        assertThat(PackedList.count(buffer)).isEqualTo(model.size());
        int at = PackedList.EMPTY_BYTES;
        for (String text : model) {
            assertThat(at).isLessThan(length);
            int elementLength = PackedList.elementLength(buffer, at);
            assertThat(PackedBuffer.read(PackedList.elementAddress(buffer, at), elementLength)).isEqualTo(text);
            at = PackedList.next(buffer, at);
        }
        assertThat(at).isEqualTo(length);
    }

    @Test
    void anEmptyListHasNoElements() {
        check();
        assertThat(PackedList.countEqual(buffer, length, element, 0)).isZero();
    }

    @Test
    void elementsWithLengthsOfEveryWidth_roundTripAtAnyPosition() {
        for (int size : SIZES) {
            insert(0, "first");
            insert(1, "x".repeat(size));
            insert(2, "last");
            assertThat(PackedList.entryBytes(size)).isEqualTo(PackedHashLayout.varintBytes(size) + size);
            rotate(true);
            rotate(true);
            rotate(false);
            rotate(false);
            removeEqual("x".repeat(size), 0, 1);
            remove(0, 2);
        }
    }

    @Test
    void aReplacementOfAnotherWidthMovesLaterElements() {
        insert(0, "before", "element", "after");
        for (int size : SIZES) {
            replace(1, "y".repeat(size));
            replace(1, "");
            replace(1, "z".repeat(size));
        }
    }

    @Test
    void rotatingAListOfOneElementChangesNothing() {
        insert(0, "only");
        rotate(true);
        rotate(false);
        remove(0, 1);
        assertThat(length).isEqualTo(PackedList.EMPTY_BYTES);
    }

    @Test
    void removeDeletesSomeOfTheEqualElements() {
        insert(0, "a", "b", "a", "a", "c", "a");
        removeEqual("a", 1, 2);
        assertThat(model).containsExactly("a", "b", "c", "a");
        removeEqual("a", 5, 1);
        removeEqual("missing", 0, 1);
        removeEqual("a", 0, 9);
        assertThat(model).containsExactly("b", "c");
    }

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 5_000; step++) {
            int size = model.size();
            switch (random.nextInt(8)) {
                case 0 -> insert(0, text(random));
                case 1 -> insert(size, text(random), text(random), text(random));
                case 2 -> insert(random.nextInt(size + 1), text(random));
                case 3 -> {
                    if (size > 0) {
                        replace(random.nextInt(size), text(random));
                    }
                }
                case 4 -> {
                    int from = random.nextInt(size + 1);
                    remove(from, random.nextInt(from, Math.min(size, from + 4) + 1));
                }
                case 5 -> removeEqual(text(random), random.nextInt(3), random.nextInt(4));
                default -> {
                    if (size > 0) {
                        rotate(random.nextBoolean());
                    }
                }
            }
            if (length > BUFFER_BYTES / 8 || model.size() > 60) {
                remove(0, model.size());
            }
        }
    }

    private static String text(SplittableRandom random) {
        String letter = String.valueOf((char) ('a' + random.nextInt(3)));
        return switch (random.nextInt(20)) {
            case 0 -> "";
            case 1 -> letter.repeat(random.nextInt(120, 140));
            case 2 -> random.nextInt(20) == 0 ? letter.repeat(random.nextInt(16_000, 17_000)) : letter;
            default -> letter.repeat(random.nextInt(1, 4));
        };
    }
}
