package io.varve.memory.collection.packed;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.collection.PackedBuffer;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes to a packed sorted set, compared after each with a map that is sorted for the comparison. Confined to
 * the test thread.
 */
class PackedSortedSetModelTest {
    private static final int BUFFER_BYTES = 24 << 20;
    private static final int ARGUMENT_BYTES = 3 << 20;
    /** Lengths at which a varint becomes wider. */
    private static final int[] WIDTHS = {0, 1, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152};
    private static final double[] SCORES = {0.0, -0.0, 1, -1, 1.5, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
            Double.MIN_VALUE, Double.MAX_VALUE, 1e17};
    private static final Comparator<String> BYTES = Comparator.comparing((String text) -> text);

    private record Entry(double score, String member) {}

    private final PackedBuffer memory = new PackedBuffer(BUFFER_BYTES, ARGUMENT_BYTES);
    private final long buffer = memory.address();
    private final long argument = memory.argument();
    private final Map<String, Double> model = new HashMap<>();
    private int length;

    @BeforeEach
    void clear() {
        memory.resize(PackedSortedSet.EMPTY_BYTES);
        PackedSortedSet.clear(buffer);
        length = PackedSortedSet.EMPTY_BYTES;
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private static String member(long entry) {
        return PackedBuffer.read(PackedSortedSet.memberAddress(entry), PackedSortedSet.memberLength(entry));
    }

    private void put(double score, String member) {
        int memberLength = memory.write(member);
        long entry = PackedSortedSet.find(buffer, length, argument, memberLength);
        if (entry == PackedSortedSet.NONE) {
            long longer = length + PackedSortedSet.entryBytes(memberLength);
            memory.resize(longer);
            length = PackedSortedSet.insert(buffer, length, score, argument, memberLength);
            assertThat((long) length).isEqualTo(longer);
        } else {
            PackedSortedSet.score(buffer, length, entry, score, argument, memberLength);
        }
        model.put(member, score);
    }

    private void remove(String member) {
        long entry = PackedSortedSet.find(buffer, length, argument, memory.write(member));
        assertThat(entry != PackedSortedSet.NONE).isEqualTo(model.remove(member) != null);
        if (entry != PackedSortedSet.NONE) {
            length = PackedSortedSet.remove(buffer, length, entry);
            memory.resize(length);
        }
    }

    private List<Entry> sorted() {
        List<Entry> entries = new ArrayList<>();
        model.forEach((member, score) -> entries.add(new Entry(score, member)));
        entries.sort((a, b) -> a.score < b.score ? -1 : a.score > b.score ? 1 : BYTES.compare(a.member, b.member));
        return entries;
    }

    private List<Entry> forwards() {
        List<Entry> entries = new ArrayList<>();
        for (long entry = PackedSortedSet.first(buffer, length); entry != PackedSortedSet.NONE; entry = PackedSortedSet
                .next(buffer, length, entry)) {
            entries.add(new Entry(PackedSortedSet.score(entry), member(entry)));
        }
        return entries;
    }

    private List<Entry> backwards() {
        List<Entry> entries = new ArrayList<>();
        for (long entry = PackedSortedSet.last(buffer, length); entry != PackedSortedSet.NONE; entry = PackedSortedSet
                .previous(buffer, entry)) {
            entries.addFirst(new Entry(PackedSortedSet.score(entry), member(entry)));
        }
        return entries;
    }

    private void check(SplittableRandom random) {
        List<Entry> expected = sorted();
        assertThat(PackedSortedSet.count(buffer)).isEqualTo(expected.size());
        assertThat(forwards()).isEqualTo(expected);
        assertThat(backwards()).isEqualTo(expected);
        for (int rank = 0; rank < expected.size(); rank++) {
            long entry = PackedSortedSet.at(buffer, length, rank);
            assertThat(member(entry)).isEqualTo(expected.get(rank).member);
            assertThat(PackedSortedSet.rank(buffer, entry)).isEqualTo(rank);
            assertThat(PackedSortedSet.find(buffer, length, argument, memory.write(expected.get(rank).member)))
                    .isEqualTo(entry);
        }
        assertThat(PackedSortedSet.find(buffer, length, argument, memory.write("never there")))
                .isEqualTo(PackedSortedSet.NONE);
        double score = score(random);
        assertThat(PackedSortedSet.rankOfScore(buffer, length, score, false))
                .isEqualTo((int) expected.stream().filter(each -> each.score < score).count());
        assertThat(PackedSortedSet.rankOfScore(buffer, length, score, true))
                .isEqualTo((int) expected.stream().filter(each -> each.score <= score).count());
    }

    private static double score(SplittableRandom random) {
        return random.nextInt(3) == 0 ? SCORES[random.nextInt(SCORES.length)] : random.nextInt(-20, 20) / 4.0;
    }

    private static String member(SplittableRandom random) {
        int number = random.nextInt(40);
        String text = number < 20 ? "m" + number : "long-member-".repeat(number == 39 ? 12 : 1) + number;
        return number % 5 == 0 ? "\u00ff" + text : text;
    }

    @Test
    void anEmptySetHasNoMembers() {
        check(new SplittableRandom(1));
        assertThat(PackedSortedSet.first(buffer, length)).isEqualTo(PackedSortedSet.NONE);
        assertThat(PackedSortedSet.last(buffer, length)).isEqualTo(PackedSortedSet.NONE);
        assertThat(PackedSortedSet.removeRange(buffer, length, 0, 0)).isEqualTo(length);
    }

    @Test
    void membersWithLengthsOfEveryWidth() {
        SplittableRandom random = new SplittableRandom(1);
        for (int width : WIDTHS) {
            put(width % 3, "x".repeat(width));
            put(width % 3, "y".repeat(width));
            check(random);
        }
        for (int width : WIDTHS) {
            put(7 - width % 5, "x".repeat(width));
            check(random);
        }
        for (int width : WIDTHS) {
            remove("x".repeat(width));
            check(random);
        }
    }

    @Test
    void equalScoresAreOrderedByUnsignedBytes() {
        for (String member : new String[] {"b", "", "a", "\u00ff", "ab", "a\0", "\u0080", "\u007f"}) {
            put(member.length() % 2 == 0 ? 0.0 : -0.0, member);
        }
        assertThat(forwards().stream().map(Entry::member)).containsExactly("", "a", "a\0", "ab", "b", "\u007f",
                "\u0080", "\u00ff");
        for (boolean orEqual : new boolean[] {false, true}) {
            int more = orEqual ? 1 : 0;
            assertThat(PackedSortedSet.rankOfMember(buffer, length, argument, memory.write(""), orEqual))
                    .isEqualTo(more);
            assertThat(PackedSortedSet.rankOfMember(buffer, length, argument, memory.write("ab"), orEqual))
                    .isEqualTo(3 + more);
            assertThat(PackedSortedSet.rankOfMember(buffer, length, argument, memory.write("abc"), orEqual))
                    .isEqualTo(4);
            assertThat(PackedSortedSet.rankOfMember(buffer, length, argument, memory.write("\u00ff"), orEqual))
                    .isEqualTo(7 + more);
            assertThat(PackedSortedSet.rankOfMember(buffer, length, argument, memory.write("\u00ff\u00ff"), orEqual))
                    .isEqualTo(8);
        }
    }

    @Test
    void ascendingMembersAreAppended() {
        for (int i = 0; i < 300; i++) {
            int memberLength = memory.write("member" + i);
            memory.resize(length + PackedSortedSet.entryBytes(memberLength));
            length = PackedSortedSet.append(buffer, length, i, argument, memberLength);
            model.put("member" + i, (double) i);
        }
        check(new SplittableRandom(1));
    }

    @Test
    void randomWrites_agreeWithTheModel() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int step = 0; step < 6_000; step++) {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> remove(member(random));
                case 3 -> {
                    List<Entry> before = sorted();
                    int from = random.nextInt(before.size() + 1);
                    int to = random.nextInt(from, Math.min(before.size(), from + 6) + 1);
                    length = PackedSortedSet.removeRange(buffer, length, from, to);
                    memory.resize(length);
                    before.subList(from, to).forEach(entry -> model.remove(entry.member));
                }
                default -> put(score(random), member(random));
            }
            check(random);
        }
        for (String each : new ArrayList<>(model.keySet())) {
            remove(each);
        }
        check(random);
        assertThat(length).as("seed %d", seed).isEqualTo(PackedSortedSet.EMPTY_BYTES);
    }
}
