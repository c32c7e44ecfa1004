package io.varve.memory.collection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.item.CacheFullException;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes to a large hash and to a large set of its fields, compared with a HashMap. Confined to the test's
 * thread.
 */
class HashTreeModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 8_000, 150_000);

    private Map<String, String> model = new HashMap<>();

    /** With few hashes those of one span several leaves. */
    @ParameterizedTest
    @CsvSource({"200, 4294967296", "200, 7", "512, 1", "1024, 100", "1024, 4294967296"})
    void randomWrites_agreeWithTheModel(int targetBytes, long hashes) {
        try (TreeFixture<HashTree> fixture = new TreeFixture<>(new HashTree(), targetBytes, hashes);
                TreeFixture<SetTree> set = new TreeFixture<>(new SetTree(), targetBytes, hashes)) {
            for (int i = 0; i < OPERATIONS; i++) {
                int names = hashes < 10 ? 300 : 2000;
                boolean grows = i / 2000 % 2 == 0;
                if (fixture.random.nextInt(150) == 0) {
                    several(fixture, set, grows, names);
                } else {
                    single(fixture, set, grows, names);
                }
                if (fixture.random.nextInt(300) == 0) {
                    compare(fixture, set);
                }
            }
            compare(fixture, set);
            assertThat(fixture.space.refusals()).isPositive();
        }
    }

    private void single(TreeFixture<HashTree> fixture, TreeFixture<SetTree> set, boolean grows, int names) {
        if (fixture.random.nextInt(10) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(4));
            set.space.refuseAfter(fixture.random.nextInt(4));
        }
        if (fixture.random.nextInt(4) == 0) {
            lookAhead(fixture, names);
        }
        String name = name(fixture, names);
        try {
            write(fixture, grows, name);
        } catch (CacheFullException full) {
            assertThat(fixture.tree.size()).as("after a refusal").isEqualTo(model.size());
        }
        set.space.refuseNothing();
        fixture.space.refuseNothing();
        follow(set, name);
    }

    /** Only reads: each address is verified, and the writes that follow agree with the model. */
    private static void lookAhead(TreeFixture<HashTree> fixture, int names) {
        MembersAhead ahead = fixture.tree.ahead();
        int members = fixture.random.nextInt(MembersAhead.MAX_MEMBERS + 5);
        for (int i = 0; i < members; i++) {
            String name = name(fixture, names);
            assertThat(ahead.add(fixture.argument(name), name.length())).isEqualTo(i < MembersAhead.MAX_MEMBERS);
        }
        ahead.touch();
    }

    private static String name(TreeFixture<HashTree> fixture, int names) {
        int number = fixture.random.nextInt(names);
        return number == 0 ? "" : (number % 50 == 1 ? "long-".repeat(60) : "f") + number;
    }

    private void write(TreeFixture<HashTree> fixture, boolean grows, String name) {
        HashTree tree = fixture.tree;
        if (fixture.random.nextInt(10) < (grows ? 8 : 2)) {
            String text = fixture.text();
            boolean isNew = tree.put(fixture.argument(0, name), name.length(), fixture.argument(1, text),
                    text.length());
            assertThat(isNew).isEqualTo(model.put(name, text) == null);
            assertThat(entry(tree)).isEqualTo(name + "=" + text);
        } else {
            boolean removed = fixture.unrefused(() -> tree.remove(fixture.argument(name), name.length()));
            assertThat(removed).isEqualTo(model.remove(name) != null);
        }
    }

    /** The set is to have the fields. */
    private void follow(TreeFixture<SetTree> set, String name) {
        long member = set.argument(name);
        if (model.containsKey(name)) {
            boolean there = set.tree.find(member, name.length());
            assertThat(set.tree.add(member, name.length())).isEqualTo(!there);
            assertThat(TreeFixture.read(set.tree.address(), set.tree.length())).isEqualTo(name);
        } else {
            set.tree.remove(member, name.length());
            assertThat(set.tree.find(member, name.length())).isFalse();
        }
    }

    private static String entry(HashTree tree) {
        return TreeFixture.read(tree.fieldAddress(), tree.fieldLength()) + "="
                + TreeFixture.read(tree.valueAddress(), tree.valueLength());
    }

    private void several(TreeFixture<HashTree> fixture, TreeFixture<SetTree> set, boolean grows, int names) {
        Map<String, String> before = new HashMap<>(model);
        Set<String> written = new HashSet<>();
        fixture.tree.begin();
        if (fixture.random.nextInt(2) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(30));
        }
        try {
            for (int i = fixture.random.nextInt(20); i > 0; i--) {
                String name = name(fixture, names);
                written.add(name);
                write(fixture, grows, name);
            }
            fixture.tree.commit();
        } catch (CacheFullException full) {
            assertThat(fixture.tree.rollback(full).bytes()).isGreaterThan(full.bytes());
            model = before;
        }
        fixture.space.refuseNothing();
        written.forEach(name -> follow(set, name));
        compare(fixture, set);
    }

    private void compare(TreeFixture<HashTree> fixture, TreeFixture<SetTree> set) {
        fixture.check();
        set.check();
        HashTree tree = fixture.tree;
        Map<String, String> walked = new HashMap<>();
        for (boolean more = tree.first(); more; more = tree.next()) {
            walked.put(TreeFixture.read(tree.fieldAddress(), tree.fieldLength()),
                    TreeFixture.read(tree.valueAddress(), tree.valueLength()));
        }
        assertThat(walked).isEqualTo(model);
        assertThat(tree.size()).isEqualTo(model.size());
        assertThat(set.tree.size()).isEqualTo(model.size());
        model.forEach((name, text) -> {
            // Not by assertThat: there are millions of these.
            if (!tree.find(fixture.argument(name), name.length()) || !entry(tree).equals(name + "=" + text)
                    || !set.tree.find(set.argument(name), name.length())) {
                throw new AssertionError("not found: " + name + "=" + text + " in " + fixture);
            }
        });
        assertThat(tree.find(fixture.argument("never there"), 11)).isFalse();
        List<String> scanned = new ArrayList<>();
        long cursor = 0;
        do {
            cursor = set.tree.scan(cursor, 7,
                    () -> scanned.add(TreeFixture.read(set.tree.address(), set.tree.length())));
        } while (cursor != 0);
        assertThat(scanned).hasSize(model.size());
        assertThat(new HashSet<>(scanned)).isEqualTo(model.keySet());
    }

    /** An element that is present throughout is visited exactly once, whatever is added and removed meanwhile. */
    @Test
    void aScanReturnsEveryElementThatStays() {
        try (TreeFixture<HashTree> fixture = new TreeFixture<>(new HashTree(), 512, 1000)) {
            for (int i = 0; i < 4000; i++) {
                put(fixture, "stays" + i);
            }
            List<String> visited = new ArrayList<>();
            long cursor = 0;
            int step = 0;
            do {
                cursor = fixture.tree.scan(cursor, 10,
                        () -> visited.add(TreeFixture.read(fixture.tree.fieldAddress(), fixture.tree.fieldLength())));
                for (int i = 0; i < 20; i++) {
                    String name = "comes" + fixture.random.nextInt(3000);
                    if (!fixture.tree.remove(fixture.argument(name), name.length())) {
                        put(fixture, name);
                    }
                }
                step++;
            } while (cursor != 0);
            assertThat(step).isGreaterThan(100);
            for (int i = 0; i < 4000; i++) {
                model.put("stays" + i, "");
            }
            visited.removeIf(name -> name.startsWith("comes"));
            assertThat(visited).hasSize(4000);
            assertThat(new HashSet<>(visited)).isEqualTo(model.keySet());
        }
    }

    private static void put(TreeFixture<HashTree> fixture, String name) {
        boolean isNew = fixture.tree.put(fixture.argument(0, name), name.length(), fixture.argument(1, "x"), 1);
        assertThat(isNew).isTrue();
    }
}
