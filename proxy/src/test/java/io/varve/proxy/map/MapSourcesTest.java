package io.varve.proxy.map;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.Unpooled;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotMap;
import io.varve.proxy.resp.Reply;
import io.varve.server.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the maps of settings and of CLUSTER SLOTS. Confined to the test's thread. */
class MapSourcesTest {
    private static final String A = "a".repeat(40);
    private static final String B = "b".repeat(40);

    private static long slotsOf(SlotTable table, Endpoint member) {
        long slots = 0;
        for (int slot = 0; slot < HashSlot.COUNT; slot++) {
            slots += member.equals(table.owner(slot)) ? 1 : 0;
        }
        return slots;
    }

    @Test
    void plainMembers_shareTheSlotsByWeight() {
        SlotTable table = StaticMapSource.table(SeedMember.parse("one:1,two:2*2,[::1]:3"));
        assertThat(slotsOf(table, new Endpoint("one", 1))).isEqualTo(4096);
        assertThat(slotsOf(table, new Endpoint("two", 2))).isEqualTo(8192);
        assertThat(slotsOf(table, new Endpoint("::1", 3))).isEqualTo(4096);
        assertThat(table.isClustered()).isFalse();
        assertThat(table.primaries()).hasSize(3);
        StaticMapSource source = new StaticMapSource(SeedMember.parse("one:1"));
        source.start(started -> assertThat(started.map().assignedSlots()).isEqualTo(HashSlot.COUNT));
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "host:", ":1", "host:0", "host:65536", "host:1*0", "host:1*x", "host:1,host:1",
            "host:1*-1", "[]:1"})
    void badMembers_areRefused(String members) {
        assertThatThrownBy(() -> SeedMember.parse(members)).isInstanceOf(ConfigException.class);
    }

    @Test
    void clusterSlots_isRead_withEmptyHosts() {
        SlotMap map = ClusterSlots.read(reply("*2\r\n*4\r\n:0\r\n:99\r\n" + node("h1", 1, A) + node("h2", 2, B)
                + "*3\r\n:200\r\n:200\r\n" + node("", 1, A)), new Endpoint("asked", 9), 5);
        assertThat(map.epoch()).isEqualTo(5);
        assertThat(map.assignedSlots()).isEqualTo(101);
        SlotTable table = new SlotTable(map, SlotTable.Kind.CLUSTER);
        assertThat(table.owner(100)).isNull();
        assertThat(table.owner(200)).isEqualTo(new Endpoint("asked", 1));
        assertThat(map.members()).extracting(member -> member.primaryId()).containsExactly(null, A);
    }

    private static String node(String host, int port, String id) {
        return "*4\r\n$" + host.length() + "\r\n" + host + "\r\n:" + port + "\r\n$40\r\n" + id + "\r\n*0\r\n";
    }

    private static Reply reply(String text) {
        return Reply.of(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @ValueSource(strings = {"*1\r\n*0\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n*0\r\n", "*1\r\n+x\r\n",
            "*1\r\n*3\r\n+x\r\n:1\r\n*3\r\n+h\r\n:1\r\n+short\r\n"})
    void otherReplies_areNoMap(String text) {
        assertThatThrownBy(() -> ClusterSlots.read(reply(text), new Endpoint("h", 1), 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aBusPortOfZero_meansThatMembersPassNoMessagesOn() {
        String varve = A + " 127.0.0.1:7000@0 myself,master - 0 0 1 connected 0-99\n";
        String redis = B + " 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-99\n" + A
                + " 127.0.0.1:7000@0 master - 0 0 1 connected\n";
        assertThat(MembersMapSource.kind(bulk(varve))).isEqualTo(SlotTable.Kind.CLUSTER);
        assertThat(MembersMapSource.kind(bulk(redis))).isEqualTo(SlotTable.Kind.CLUSTER_WITH_BUS);
        assertThat(MembersMapSource.kind(reply("-NOPERM no\r\n"))).isEqualTo(SlotTable.Kind.CLUSTER_WITH_BUS);
    }

    private static Reply bulk(String text) {
        return reply("$" + text.length() + "\r\n" + text + "\r\n");
    }

    @Test
    void primaries_areInTheOrderOfTheirIds() {
        SlotTable table = StaticMapSource.table(SeedMember.parse("one:1,two:2,three:3"));
        SlotTable reordered = StaticMapSource.table(SeedMember.parse("three:3,one:1,two:2"));
        assertThat(table.primaries()).isEqualTo(reordered.primaries()).isNotEqualTo(List.of());
    }
}
