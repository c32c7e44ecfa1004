package io.varve.proxy.map;

import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.varve.proxy.testing.ScriptedMember;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests which answers of members change the map. Confined to the test's thread; maps come from the poller's. */
class MembersMapSourceTest {
    private static final Duration WITHIN = Duration.ofSeconds(30);
    private static final String SLOTS = "CLUSTER SLOTS";

    private final Queue<SlotTable> tables = new ConcurrentLinkedQueue<>();

    private static MembersMapSource source(String seeds) {
        return new MembersMapSource(SeedMember.parse(seeds), true, new MemberCredentials("", "", null), 1, 20_000);
    }

    @Test
    void aMemberThatKnowsNoCluster_endsNoMapThatIsKnown() throws IOException {
        try (ScriptedMember member = new ScriptedMember(
                request -> request.equals(SLOTS) && !tables.isEmpty()
                        ? "-ERR This instance has cluster support disabled\r\n"
                        : null);
                MembersMapSource source = source(member.address())) {
            source.start(tables::add);
            await().atMost(WITHIN).until(() -> member.count(SLOTS) >= 3);
            assertThat(tables).extracting(SlotTable::isClustered).containsExactly(true);
        }
    }

    @Test
    void afterAMalformedReply_theNextMemberIsAsked() throws IOException {
        try (ScriptedMember other = new ScriptedMember(_ -> "HTTP/1.1 400\r\n");
                ScriptedMember member = new ScriptedMember(_ -> null);
                MembersMapSource source = source(other.address() + "," + member.address())) {
            source.start(tables::add);
            await().atMost(WITHIN).until(() -> !tables.isEmpty());
            assertThat(tables.element().owner(0)).isEqualTo(member.endpoint());
            assertThat(other.count(SLOTS)).isPositive();
        }
    }
}
