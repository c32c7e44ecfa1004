package io.varve.memory.collection;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.CacheFullException;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Random writes to a large list, compared with an ArrayList. Confined to the test's thread. */
class ListTreeModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 8_000, 150_000);

    private List<String> model = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(ints = {200, 512, 1024})
    void randomWrites_agreeWithTheModel(int targetBytes) {
        try (TreeFixture<ListTree> fixture = new TreeFixture<>(new ListTree(), targetBytes, 1)) {
            int max = 3000;
            for (int i = 0; i < OPERATIONS; i++) {
                // It grows and shrinks by turns.
                boolean grows = i / max % 2 == 0;
                if (fixture.random.nextInt(150) == 0) {
                    several(fixture, grows);
                } else {
                    single(fixture, grows);
                }
                if (fixture.random.nextInt(200) == 0) {
                    compare(fixture);
                }
            }
            compare(fixture);
            assertThat(fixture.space.refusals()).isPositive();
            fixture.tree.removeRange(0, model.size());
            model.clear();
            compare(fixture);
        }
    }

    private void single(TreeFixture<ListTree> fixture, boolean grows) {
        if (fixture.random.nextInt(10) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(4));
        }
        try {
            write(fixture, grows);
        } catch (CacheFullException full) {
            assertThat(fixture.tree.size()).as("after a refusal").isEqualTo(model.size());
        }
        fixture.space.refuseNothing();
    }

    /** The model is written to after the tree: a refusal leaves it as it was. */
    private void write(TreeFixture<ListTree> fixture, boolean grows) {
        ListTree tree = fixture.tree;
        int size = model.size();
        int at = fixture.random.nextInt(size + 1);
        switch (fixture.random.nextInt(grows ? 8 : 14)) {
            case 0, 1 -> {
                String text = fixture.text();
                tree.addLast(fixture.argument(text), text.length());
                model.addLast(text);
                assertAt(tree, model.size() - 1);
            }
            case 2, 3 -> {
                String text = fixture.text();
                tree.addFirst(fixture.argument(text), text.length());
                model.addFirst(text);
                assertAt(tree, 0);
            }
            case 4, 5 -> {
                String text = fixture.text();
                assertThat(tree.seek(at)).isEqualTo(at < size);
                tree.insert(fixture.argument(text), text.length());
                model.add(at, text);
                assertAt(tree, at);
            }
            case 6 -> {
                if (tree.seek(at)) {
                    String text = fixture.text();
                    tree.replace(fixture.argument(text), text.length());
                    model.set(at, text);
                    assertAt(tree, at);
                }
            }
            case 7 -> turn(tree, fixture.random.nextBoolean());
            case 8 -> {
                int to = Math.min(size, at + fixture.random.nextInt(fixture.random.nextInt(10) == 0 ? 400 : 10));
                assertThat(fixture.unrefused(() -> {
                    tree.removeRange(at, to);
                    return true;
                })).isTrue();
                model.subList(at, to).clear();
                assertAt(tree, at);
            }
            default -> {
                int victim = switch (fixture.random.nextInt(4)) {
                    case 0 -> 0;
                    case 1 -> size - 1;
                    default -> at;
                };
                if (tree.seek(victim)) {
                    assertThat(fixture.unrefused(() -> {
                        tree.remove();
                        return true;
                    })).isTrue();
                    model.remove(victim);
                    assertAt(tree, victim);
                }
            }
        }
    }

    private void turn(ListTree tree, boolean first) {
        if (model.isEmpty()) {
            return;
        }
        if (first) {
            tree.firstToLast();
            model.addLast(model.removeFirst());
        } else {
            tree.lastToFirst();
            model.addFirst(model.removeLast());
        }
    }

    private void assertAt(ListTree tree, int rank) {
        assertThat(tree.size()).isEqualTo(model.size());
        assertThat(tree.rank()).isEqualTo(Math.min(rank, model.size()));
        assertThat(tree.isAtElement()).isEqualTo(rank < model.size());
        if (tree.isAtElement()) {
            assertThat(TreeFixture.read(tree.address(), tree.length())).isEqualTo(model.get(rank));
        }
    }

    /** Several writes that are one. */
    private void several(TreeFixture<ListTree> fixture, boolean grows) {
        List<String> before = new ArrayList<>(model);
        fixture.tree.begin();
        if (fixture.random.nextInt(2) == 0) {
            fixture.space.refuseAfter(fixture.random.nextInt(30));
        }
        try {
            for (int i = fixture.random.nextInt(20); i > 0; i--) {
                write(fixture, grows);
            }
            if (fixture.random.nextInt(3) == 0) {
                throw CacheFullException.of(1);
            }
            fixture.tree.commit();
        } catch (CacheFullException full) {
            assertThat(fixture.tree.rollback(full).bytes()).isGreaterThan(full.bytes());
            model = before;
        }
        fixture.space.refuseNothing();
        compare(fixture);
    }

    private void compare(TreeFixture<ListTree> fixture) {
        fixture.check();
        ListTree tree = fixture.tree;
        assertThat(tree.size()).isEqualTo(model.size());
        List<String> forwards = new ArrayList<>();
        for (boolean more = tree.first(); more; more = tree.next()) {
            assertThat(tree.rank()).isEqualTo(forwards.size());
            forwards.add(TreeFixture.read(tree.address(), tree.length()));
        }
        assertThat(forwards).isEqualTo(model);
        List<String> backwards = new ArrayList<>();
        while (tree.previous()) {
            backwards.add(TreeFixture.read(tree.address(), tree.length()));
        }
        assertThat(backwards.reversed()).isEqualTo(model);
    }
}
