package io.varve.memory.collection;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes to a large hash whose fields have times, compared with a HashMap, while time passes. Confined to the
 * test's thread.
 */
class HashTreeTimesModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 6_000, 150_000);
    private static final long START = 1_750_000_000_000L;

    private record Field(String value, long time) {
        boolean isDue(long now) {
            return time != Item.NEVER && time < now;
        }
    }

    private Map<String, Field> model = new HashMap<>();
    private long now = START;

    /** With few hashes those of one span several leaves; with few times those of one do. */
    @ParameterizedTest
    @CsvSource({"200, 4294967296, 1000", "200, 7, 3", "512, 1, 1000", "1024, 4294967296, 2"})
    void randomWrites_agreeWithTheModel(int targetBytes, long hashes, int times) {
        HashTree tree = new HashTree();
        tree.keepTimes(true);
        try (TreeFixture<HashTree> fixture = new TreeFixture<>(tree, targetBytes, hashes)) {
            for (int i = 0; i < OPERATIONS; i++) {
                boolean grows = i / 1500 % 2 == 0;
                if (fixture.random.nextInt(150) == 0) {
                    several(fixture, grows, times);
                } else {
                    single(fixture, grows, times);
                }
                if (fixture.random.nextInt(60) == 0) {
                    now += fixture.random.nextInt(times);
                    tree.asOf(now);
                }
                if (fixture.random.nextInt(100) == 0) {
                    removeDue(fixture);
                }
                if (fixture.random.nextInt(300) == 0) {
                    compare(fixture);
                }
            }
            compare(fixture);
            now += 10_000;
            tree.asOf(now);
            compare(fixture);
            while (tree.hides()) {
                removeDue(fixture);
            }
            compare(fixture);
            assertThat(fixture.space.refusals()).isPositive();
        }
    }

    /** Also where many have one hash, or one time, or both. */
    @ParameterizedTest
    @CsvSource({"200, 4294967296, 1000", "200, 7, 3", "200, 1, 1", "1024, 70000, 2"})
    void fieldsAreVisitedInOrderOfTheirTimes(int targetBytes, long hashes, int times) {
        HashTree tree = new HashTree();
        tree.keepTimes(true);
        try (TreeFixture<HashTree> fixture = new TreeFixture<>(tree, targetBytes, hashes)) {
            for (int i = 0; i < 300; i++) {
                String name = "f" + i;
                tree.put(fixture.argument(0, name), name.length(), fixture.argument(1, "v"), 1,
                        START + fixture.random.nextInt(times));
            }
            assertThat(tree.allHaveTimes()).isTrue();
            for (long at : new long[] {START, START + times / 2, START + times - 1}) {
                tree.asOf(at);
                Set<String> found = new HashSet<>();
                long before = at;
                for (long number = 0; number < tree.visible(); number++) {
                    tree.seekByTime(number);
                    assertThat(tree.time()).as(fixture.toString()).isGreaterThanOrEqualTo(before);
                    before = tree.time();
                    String name = TreeFixture.read(tree.fieldAddress(), tree.fieldLength());
                    assertThat(found.add(name)).as("%s again in %s", name, fixture).isTrue();
                    long rank = tree.rank();
                    assertThat(tree.seek(rank)).isTrue();
                    assertThat(TreeFixture.read(tree.fieldAddress(), tree.fieldLength())).isEqualTo(name);
                }
                assertThat(found).hasSize((int) tree.visible());
            }
            tree.put(fixture.argument(0, "f1"), 2, fixture.argument(1, "v"), 1);
            assertThat(tree.allHaveTimes()).isFalse();
        }
    }

    /** The memory of each goes back at once, under a lock: fewer of them go at a time. */
    @Test
    void oneCallRemovesFewLargeFields() {
        HashTree tree = new HashTree();
        tree.keepTimes(true);
        try (TreeFixture<HashTree> fixture = new TreeFixture<>(tree, 1024, 1L << 32)) {
            for (int i = 0; i < 100; i++) {
                String name = "f" + i;
                int bytes = i < 50 ? 5000 : 50;
                tree.put(fixture.argument(0, name), name.length(), fixture.argument(1, "v".repeat(bytes)), bytes,
                        START + i);
            }
            tree.asOf(START + 100);
            int large = 0;
            while (tree.size() > 50) {
                int removed = tree.removeDue(32);
                assertThat(removed).isBetween(1, 4 + 24);
                large += removed > 4 ? 0 : 1;
            }
            assertThat(large).isEqualTo(12);
            assertThat(tree.removeDue(32)).isEqualTo(32);
        }
    }

    private void removeDue(TreeFixture<HashTree> fixture) {
        HashTree tree = fixture.tree;
        long due = tree.size() - tree.visible();
        int max = fixture.random.nextInt(1, 200);
        int removed = fixture.unrefused(() -> tree.removeDue(max));
        // One that is large counts as eight.
        assertThat(removed).as(fixture.toString()).isBetween((int) Math.min((max + 7) / 8, due),
                (int) Math.min(max, due));
        if (!tree.hides()) {
            model.values().removeIf(field -> field.isDue(now));
            assertThat(tree.size()).as(fixture.toString()).isEqualTo(model.size());
        }
    }

    private void single(TreeFixture<HashTree> fixture, boolean grows, int times) {
        if (fixture.random.nextInt(10) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(4));
        }
        try {
            write(fixture, grows, times);
        } catch (CacheFullException full) {
            assertThat(fixture.tree.visible()).as("after a refusal").isEqualTo(visible());
        }
        fixture.space.refuseNothing();
    }

    private long visible() {
        return model.values().stream().filter(field -> !field.isDue(now)).count();
    }

    private void several(TreeFixture<HashTree> fixture, boolean grows, int times) {
        Map<String, Field> before = new HashMap<>(model);
        fixture.tree.begin();
        if (fixture.random.nextInt(2) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(30));
        }
        try {
            for (int i = fixture.random.nextInt(20); i > 0; i--) {
                write(fixture, grows, times);
            }
            fixture.tree.commit();
        } catch (CacheFullException full) {
            assertThat(fixture.tree.rollback(full).bytes()).isGreaterThan(full.bytes());
            model = before;
        }
        fixture.space.refuseNothing();
        compare(fixture);
    }

    private void write(TreeFixture<HashTree> fixture, boolean grows, int times) {
        HashTree tree = fixture.tree;
        String name = "f" + fixture.random.nextInt(800);
        Field old = model.get(name);
        boolean there = old != null && !old.isDue(now);
        if (fixture.random.nextInt(10) < (grows ? 8 : 3)) {
            String text = fixture.text();
            long time = switch (fixture.random.nextInt(3)) {
                case 0 -> Item.NEVER;
                case 1 -> old == null || old.time() < now ? Item.NEVER : old.time();
                default -> now + fixture.random.nextInt(times);
            };
            boolean isNew = tree.put(fixture.argument(0, name), name.length(), fixture.argument(1, text),
                    text.length(), time);
            model.put(name, new Field(text, time));
            assertThat(isNew).as(fixture.toString()).isEqualTo(!there);
            assertThat(tree.time()).isEqualTo(time);
            assertThat(TreeFixture.read(tree.valueAddress(), tree.valueLength())).isEqualTo(text);
        } else {
            boolean removed = fixture.unrefused(() -> tree.remove(fixture.argument(name), name.length()));
            assertThat(removed).as(fixture.toString()).isEqualTo(there);
            if (there) {
                model.remove(name);
            }
        }
    }

    private void compare(TreeFixture<HashTree> fixture) {
        fixture.check();
        HashTree tree = fixture.tree;
        Map<String, Field> walked = new HashMap<>();
        for (boolean more = tree.first(); more; more = tree.next()) {
            if (!tree.isDue()) {
                walked.put(TreeFixture.read(tree.fieldAddress(), tree.fieldLength()),
                        new Field(TreeFixture.read(tree.valueAddress(), tree.valueLength()), tree.time()));
            }
        }
        Map<String, Field> expected = new HashMap<>(model);
        expected.values().removeIf(field -> field.isDue(now));
        assertThat(walked).as(fixture.toString()).isEqualTo(expected);
        assertThat(tree.visible()).isEqualTo(expected.size());
        assertThat(tree.earliest()).isEqualTo(expected.values().stream().mapToLong(Field::time)
                .filter(time -> time != Item.NEVER).min().orElse(Item.NEVER));
        for (String name : model.keySet()) {
            if (tree.find(fixture.argument(name), name.length()) != expected.containsKey(name)) {
                throw new AssertionError(name + " in " + fixture);
            }
        }
    }
}
