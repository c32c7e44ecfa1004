package io.varve.server.clustering;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.config.ServerConfig;
import io.varve.server.keys.HeapKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link ReplicatedKeys}. Confined to the test's thread. */
class ReplicatedKeysTest {
    private static final int PRIMARIES = 5;

    @TempDir
    Path folder;

    private static String id(int number) {
        return "%040x".formatted(number);
    }

    private static HeapKey key(int number) {
        return new HeapKey(0, "key" + number);
    }

    private static Set<String> ids(List<Member> members) {
        Set<String> ids = new HashSet<>();
        members.forEach(member -> ids.add(member.id()));
        return ids;
    }

    @Test
    void holders_areOtherPrimaries_andStayWhenOneLeaves() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("cluster-enabled", "yes")
                .with("cluster-controllers", "127.0.0.1:1").with("dir", folder.toString());
        try (ClusterState state = Objects.requireNonNull(ClusterState.open(config, System::nanoTime))) {
            String me = state.view().me().id();
            SlotMap.Builder map = SlotMap.EMPTY.toBuilder().member(new Member(me, "h", 1, 1, null));
            for (int i = 1; i < PRIMARIES; i++) {
                map.member(new Member(id(i), "h", 1 + i, 1, null));
            }
            map.member(new Member(id(10), "h", 11, 1, id(1)));
            map.member(new Member(id(11), "h", 12, 1, null, Member.Kind.PLAIN));
            map.owner(new SlotRange(0, HashSlot.COUNT - 1), me);
            state.install(map.build(1), true);
            ClusterView before = state.view();
            state.install(map.remove(id(3)).build(2), true);
            ClusterView after = state.view();
            Set<String> all = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                HeapKey key = key(i);
                Set<String> chosen = ids(ReplicatedKeys.choose(before, key, 2));
                assertThat(chosen).hasSize(2).doesNotContain(me, id(10), id(11));
                all.addAll(chosen);
                chosen.remove(id(3));
                assertThat(ids(ReplicatedKeys.choose(after, key, 2))).hasSize(2).containsAll(chosen);
                assertThat(ReplicatedKeys.choose(before, key, 100)).hasSize(PRIMARIES - 1);
            }
            assertThat(all).hasSize(PRIMARIES - 1);
            state.install(after.map().toBuilder().target(HashSlot.of(key(1).bytes()), id(1)).build(3), true);
            assertThat(ids(ReplicatedKeys.choose(state.view(), key(1), 100))).as("receives the slot")
                    .containsExactlyInAnyOrder(id(2), id(4));
        }
    }

    @Test
    void theNumberOfKeysIsBounded() {
        ReplicatedKeys replicated = new ReplicatedKeys();
        AtomicInteger changes = new AtomicInteger();
        replicated.onChange(changes::incrementAndGet);
        for (int i = 0; i < ReplicatedKeys.MAX_KEYS; i++) {
            assertThat(replicated.put(key(i), 1)).isTrue();
        }
        assertThat(replicated.put(key(-1), 1)).isFalse();
        assertThat(replicated.put(key(1), 2)).as("known").isTrue();
        replicated.remove(key(1));
        assertThat(replicated.put(key(-1), 1)).isTrue();
        assertThat(replicated.all()).hasSize(ReplicatedKeys.MAX_KEYS).containsEntry(key(-1), 1);
        assertThat(changes).hasValue(ReplicatedKeys.MAX_KEYS + 3);
    }
}
