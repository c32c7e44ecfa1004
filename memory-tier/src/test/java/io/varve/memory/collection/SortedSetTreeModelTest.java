package io.varve.memory.collection;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.varve.memory.item.CacheFullException;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a large sorted set, compared with a map and a TreeSet. Confined to the test's thread. */
class SortedSetTreeModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 8_000, 150_000);

    private record Scored(double score, String member) {}

    private static final Comparator<Scored> ORDER = (a, b) -> a.score < b.score
            ? -1
            : a.score > b.score ? 1 : a.member.compareTo(b.member);

    private Map<String, Double> model = new HashMap<>();
    private TreeSet<Scored> order = new TreeSet<>(ORDER);

    /** With few scores, or one, the order is that of the members. */
    @ParameterizedTest
    @CsvSource({"200, 4294967296, 1000000", "200, 13, 5", "512, 4294967296, 1", "1024, 3000, 10",
            "1024, 4294967296, 1000000"})
    void randomWrites_agreeWithTheModel(int targetBytes, long hashes, int scores) {
        try (TreeFixture<SortedSetTree> fixture = new TreeFixture<>(new SortedSetTree(), targetBytes, hashes)) {
            for (int i = 0; i < OPERATIONS; i++) {
                int names = hashes < 100 ? 300 : 2000;
                boolean grows = i / 2000 % 2 == 0;
                if (fixture.random.nextInt(150) == 0) {
                    several(fixture, grows, names, scores);
                } else {
                    single(fixture, grows, names, scores);
                }
                if (fixture.random.nextInt(300) == 0) {
                    compare(fixture);
                }
            }
            compare(fixture);
            assertThat(fixture.space.refusals()).isPositive();
            fixture.tree.removeRange(0, fixture.tree.size());
            fixture.check();
        }
    }

    private void single(TreeFixture<SortedSetTree> fixture, boolean grows, int names, int scores) {
        if (fixture.random.nextInt(10) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(5));
        }
        try {
            write(fixture, grows, names, scores);
        } catch (CacheFullException full) {
            assertThat(fixture.tree.size()).as("after a refusal").isEqualTo(model.size());
        }
        fixture.space.refuseNothing();
        search(fixture, names, scores);
    }

    private static String name(TreeFixture<SortedSetTree> fixture, int names) {
        int number = fixture.random.nextInt(names);
        return number == 0 ? "" : (number % 50 == 1 ? "long-".repeat(60) : "m") + number;
    }

    private static double score(TreeFixture<SortedSetTree> fixture, int scores) {
        return switch (fixture.random.nextInt(20)) {
            case 0 -> 0.0;
            case 1 -> -0.0;
            case 2 -> Double.NEGATIVE_INFINITY;
            case 3 -> Double.POSITIVE_INFINITY;
            case 4 -> -fixture.random.nextInt(scores) / 3.0;
            default -> fixture.random.nextInt(scores);
        };
    }

    private void write(TreeFixture<SortedSetTree> fixture, boolean grows, int names, int scores) {
        SortedSetTree tree = fixture.tree;
        String name = name(fixture, names);
        Double old = model.get(name);
        if (!grows && fixture.random.nextInt(20) == 0 && !order.isEmpty()) {
            removeRange(fixture);
        } else if (fixture.random.nextInt(10) < (grows ? 8 : 3)) {
            double score = score(fixture, scores);
            long argument = fixture.argument(name);
            boolean isNew;
            if (fixture.random.nextBoolean()) {
                isNew = tree.put(argument, name.length(), score);
            } else {
                assertThat(tree.find(argument, name.length())).isEqualTo(old != null);
                isNew = tree.putLastSearched(score);
            }
            assertThat(isNew).isEqualTo(old == null);
            assertThat(tree.isAtElement()).isFalse();
            forget(name, old);
            model.put(name, score);
            order.add(new Scored(score, name));
            assertThat(tree.find(argument, name.length())).isTrue();
            assertAt(tree, new Scored(score, name));
            assertThat(Double.doubleToRawLongBits(tree.score())).isEqualTo(Double.doubleToRawLongBits(score));
        } else {
            assertThat(fixture.unrefused(() -> tree.remove(fixture.argument(name), name.length())))
                    .isEqualTo(old != null);
            Scored behind = old == null ? null : order.higher(new Scored(old, name));
            forget(name, old);
            if (behind == null) {
                assertThat(tree.isAtElement()).isFalse();
            } else {
                assertAt(tree, behind);
            }
        }
    }

    private void forget(String name, @org.jspecify.annotations.Nullable Double old) {
        if (old != null) {
            model.remove(name);
            order.remove(new Scored(old, name));
        }
    }

    private void removeRange(TreeFixture<SortedSetTree> fixture) {
        int from = fixture.random.nextInt(order.size());
        int to = Math.min(order.size(), from + fixture.random.nextInt(fixture.random.nextInt(5) == 0 ? 200 : 5));
        List<Scored> removed = List.copyOf(order).subList(from, to);
        assertThat(fixture.unrefused(() -> {
            fixture.tree.removeRange(from, to);
            return true;
        })).isTrue();
        removed.forEach(each -> forget(each.member, each.score));
        assertThat(fixture.tree.rank()).isEqualTo(from);
    }

    private static void assertAt(SortedSetTree tree, Scored expected) {
        assertThat(tree.isAtElement()).isTrue();
        assertThat(TreeFixture.read(tree.address(), tree.length())).isEqualTo(expected.member);
        assertThat(tree.score() == expected.score).isTrue();
    }

    /** All kinds of searches. */
    private void search(TreeFixture<SortedSetTree> fixture, int names, int scores) {
        SortedSetTree tree = fixture.tree;
        String name = name(fixture, names);
        double score = score(fixture, scores);
        long address = fixture.argument(name);
        Scored sought = new Scored(score, name);
        switch (fixture.random.nextInt(6)) {
            case 0 -> {
                Double there = model.get(name);
                assertThat(tree.find(address, name.length())).isEqualTo(there != null);
                if (there != null) {
                    assertAt(tree, new Scored(there, name));
                    assertThat(tree.rank()).isEqualTo(order.headSet(new Scored(there, name)).size());
                    assertAt(tree, new Scored(there, name));
                }
            }
            case 1 -> expect(tree, tree.seekScore(score), order.ceiling(new Scored(score, "")));
            case 2 -> expect(tree, tree.seekAboveScore(score), order.higher(new Scored(score, "\u00ff".repeat(400))));
            case 3 -> expect(tree, tree.seekMember(score, address, name.length()), order.ceiling(sought));
            case 4 -> expect(tree, tree.seekAboveMember(score, address, name.length()), order.higher(sought));
            default -> {
                if (tree.seekMember(score, address, name.length())) {
                    Scored before = order.lower(sought);
                    assertThat(tree.previous()).isEqualTo(before != null);
                    if (before != null) {
                        assertAt(tree, before);
                    }
                }
            }
        }
    }

    private void expect(SortedSetTree tree, boolean found, @org.jspecify.annotations.Nullable Scored expected) {
        assertThat(found).isEqualTo(expected != null);
        if (expected != null) {
            assertAt(tree, expected);
            assertThat(tree.rank()).isEqualTo(order.headSet(expected).size());
        } else {
            assertThat(tree.rank()).isEqualTo(order.size());
        }
    }

    private void several(TreeFixture<SortedSetTree> fixture, boolean grows, int names, int scores) {
        Map<String, Double> before = new HashMap<>(model);
        TreeSet<Scored> orderBefore = new TreeSet<>(order);
        fixture.tree.begin();
        if (fixture.random.nextInt(2) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(40));
        }
        try {
            for (int i = fixture.random.nextInt(20); i > 0; i--) {
                write(fixture, grows, names, scores);
            }
            fixture.tree.commit();
        } catch (CacheFullException full) {
            assertThat(fixture.tree.rollback(full).bytes()).isGreaterThan(full.bytes());
            model = before;
            order = orderBefore;
        }
        fixture.space.refuseNothing();
        compare(fixture);
    }

    private void compare(TreeFixture<SortedSetTree> fixture) {
        fixture.check();
        SortedSetTree tree = fixture.tree;
        assertThat(tree.size()).isEqualTo(model.size());
        List<Scored> walked = new ArrayList<>();
        for (boolean more = tree.first(); more; more = tree.next()) {
            walked.add(new Scored(tree.score() + 0.0, TreeFixture.read(tree.address(), tree.length())));
        }
        assertThat(walked).isEqualTo(order.stream().map(each -> new Scored(each.score + 0.0, each.member)).toList());
        List<String> scanned = new ArrayList<>();
        long cursor = 0;
        do {
            cursor = tree.scan(cursor, 7, () -> {
                String member = TreeFixture.read(tree.address(), tree.length());
                if (!Double.valueOf(tree.score()).equals(model.get(member))) {
                    throw new AssertionError(member + " has " + tree.score() + " in " + fixture);
                }
                scanned.add(member);
            });
        } while (cursor != 0);
        assertThat(scanned).hasSize(model.size());
        assertThat(new HashSet<>(scanned)).isEqualTo(model.keySet());
    }

    /** A score may be changed again and again, a little or a lot: all else stays where it is. */
    @Test
    void changedScoresKeepTheOrder() {
        try (TreeFixture<SortedSetTree> fixture = new TreeFixture<>(new SortedSetTree(), 512, 1L << 32)) {
            for (int i = 0; i < 500; i++) {
                String name = "member" + i;
                assertThat(fixture.tree.put(fixture.argument(name), name.length(), i)).isTrue();
            }
            for (int i = 0; i < 5000; i++) {
                String name = "member" + fixture.random.nextInt(500);
                assertThat(fixture.tree.find(fixture.argument(name), name.length())).isTrue();
                double score = fixture.tree.score() + fixture.random.nextDouble() * (i % 10 == 0 ? 300 : 2);
                assertThat(fixture.tree.put(fixture.argument(name), name.length(), score)).isFalse();
                assertThat(fixture.tree.find(fixture.argument(name), name.length())).isTrue();
                assertThat(fixture.tree.score()).isEqualTo(score);
            }
            fixture.check();
            assertThat(fixture.tree.size()).isEqualTo(500);
        }
    }
}
