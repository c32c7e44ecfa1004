package io.varve.cluster.placement;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the hash ring, random rings beside a search through all identifiers. Confined to the test's thread. */
final class HashRingTest {
    private static final HashRing THREE = HashRing.of(List.of(VirtualNodes.given("n1", 10, 40),
            VirtualNodes.given("n2", 30, 60), VirtualNodes.given("n3", 20, -5)));

    /** An identifier and its member. */
    private record Entry(long identifier, String member) {}

    /** The members from the hash on, clockwise, by a search through all identifiers. */
    private static List<String> clockwise(List<VirtualNodes> members, long hash) {
        List<Entry> entries = new ArrayList<>();
        members.forEach(member -> {
            for (long identifier : member.identifiers()) {
                entries.add(new Entry(identifier, member.memberId()));
            }
        });
        entries.sort((a, b) -> a.identifier() == b.identifier()
                ? a.member().compareTo(b.member())
                : Long.compareUnsigned(a.identifier(), b.identifier()));
        Set<String> found = new LinkedHashSet<>();
        entries.stream().filter(entry -> Long.compareUnsigned(entry.identifier(), hash) >= 0)
                .forEach(entry -> found.add(entry.member()));
        entries.forEach(entry -> found.add(entry.member()));
        return List.copyOf(found);
    }

    /** A member owns from the identifier before, excluded, to its own, included: the paper's (vid2, vid3]. */
    @Test
    void owner_isTheNextIdentifierClockwise() {
        assertThat(THREE.owner(11)).isEqualTo("n3");
        assertThat(THREE.owner(20)).isEqualTo("n3");
        assertThat(THREE.owner(21)).isEqualTo("n2");
        assertThat(THREE.owner(31)).isEqualTo("n1");
        assertThat(THREE.owner(61)).isEqualTo("n3");
        assertThat(THREE.owner(Long.MIN_VALUE)).isEqualTo("n3");
        assertThat(THREE.owner(-5)).isEqualTo("n3");
        assertThat(THREE.owner(-4)).as("beyond the last identifier").isEqualTo("n1");
        assertThat(THREE.owner(0)).isEqualTo("n1");
        assertThat(THREE.size()).isEqualTo(6);
    }

    @Test
    void owners_areDistinctMembersClockwise() {
        assertThat(THREE.owners(41, 2)).containsExactly("n2", "n3");
        assertThat(THREE.owners(61, 3)).containsExactly("n3", "n1", "n2");
        assertThat(THREE.owners(61, 9)).hasSize(3);
        assertThat(THREE.owners(61, 0)).isEmpty();
        assertThat(HashRing.EMPTY.owners(61, 2)).isEmpty();
    }

    /** The paper's Figure 2: a join takes a part of the ranges before its identifiers, from the members behind them. */
    @Test
    void join_takesOnlyTheRangesBeforeItsIdentifiers() {
        HashRing more = THREE.with(VirtualNodes.given("n4", 25, 50));
        for (long hash = 0; hash < 100; hash++) {
            boolean isTaken = hash > 20 && hash <= 25 || hash > 40 && hash <= 50;
            assertThat(more.owner(hash)).as("hash %d", hash).isEqualTo(isTaken ? "n4" : THREE.owner(hash));
        }
        assertThat(more.without("n4").owner(25)).isEqualTo("n2");
    }

    @Test
    void commonIdentifier_isTheLesserIds_whicheverJoinedFirst() {
        VirtualNodes a = VirtualNodes.given("a", 10, 30);
        VirtualNodes b = VirtualNodes.given("b", 10, 20);
        for (HashRing ring : List.of(HashRing.EMPTY.with(a).with(b), HashRing.EMPTY.with(b).with(a))) {
            assertThat(ring.owner(10)).isEqualTo("a");
            assertThat(ring.owner(5)).isEqualTo("a");
            assertThat(ring.owners(5, 2)).containsExactly("a", "b");
            assertThat(ring.without("a").owner(10)).isEqualTo("b");
        }
    }

    @Test
    void invalidUse_isRefused() {
        assertThatThrownBy(() -> HashRing.EMPTY.owner(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> THREE.with(VirtualNodes.given("n1", 5))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("n1");
        assertThat(THREE.without("unknown").members()).isEqualTo(THREE.members());
    }

    @Test
    void randomRings_equalASearchThroughAllIdentifiers() {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.placement.seed"));
        int rings = TestBudget.ofInt("varve.placement.rings", 300, 10_000);
        for (int round = 0; round < rings; round++) {
            // Few different identifiers, so that members have some in common.
            int bits = random.nextBoolean() ? 5 : Long.SIZE;
            List<VirtualNodes> members = new ArrayList<>();
            int count = 1 + random.nextInt(9);
            for (int i = 0; i < count; i++) {
                long[] identifiers = random.longs(1 + random.nextInt(6)).map(each -> each << Long.SIZE - bits)
                        .distinct().toArray();
                members.add(VirtualNodes.given("n" + i, identifiers));
            }
            HashRing ring = HashRing.of(members);
            Collections.shuffle(members, new Random(random.nextLong()));
            HashRing joined = HashRing.EMPTY;
            for (VirtualNodes member : members) {
                joined = joined.with(member);
            }
            for (int i = 0; i < 50; i++) {
                long hash = random.nextLong() << Long.SIZE - bits;
                List<String> expected = clockwise(members, hash);
                assertThat(ring.owner(hash)).isEqualTo(expected.getFirst()).isEqualTo(joined.owner(hash));
                int wanted = 1 + random.nextInt(count);
                assertThat(joined.owners(hash, wanted)).isEqualTo(expected.subList(0, wanted));
            }
        }
    }

    /** The Nth of equal members takes 1/N of the keys on average (section 3.2), and a leaver gives exactly its own. */
    @Test
    void joinAndLeave_moveKeysOfThatMemberOnly() {
        long seed = TestBudget.seed("varve.placement.seed");
        SplittableRandom random = new SplittableRandom(seed);
        HashRing seven = HashRing.EMPTY;
        for (int i = 0; i < 7; i++) {
            seven = seven.with(VirtualNodes.random("n" + i, 1024, seed));
        }
        HashRing eight = seven.with(VirtualNodes.random("n7", 1024, seed));
        int moved = 0;
        int keys = 20_000;
        for (int i = 0; i < keys; i++) {
            long hash = HashRing.hash(("key:" + random.nextLong()).getBytes(StandardCharsets.UTF_8));
            boolean isMoved = !seven.owner(hash).equals(eight.owner(hash));
            moved += isMoved ? 1 : 0;
            assertThat(isMoved).isEqualTo(eight.owner(hash).equals("n7"));
        }
        // The share of the eighth has a standard deviation of 3 % of itself, and the sample one of 2 %.
        assertThat((double) moved / keys).isBetween(0.75 / 8, 1.25 / 8);
    }
}
