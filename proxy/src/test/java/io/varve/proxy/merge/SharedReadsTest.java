package io.varve.proxy.merge;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.proxy.resp.ReplyTarget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which reads may share an answer, step by step. Confined to the test's thread. */
class SharedReadsTest {
    private static final int KEY = 7;
    private static final int OTHER_KEY = 8;

    private final WriteStamps stamps = new WriteStamps();
    private final LongAdder joined = new LongAdder();
    private final SharedReads reads = new SharedReads(stamps, joined);
    private final List<String> answers = new ArrayList<>();

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private ReplyTarget client(String name) {
        return reply -> {
            answers.add(name + "=" + reply.toString(StandardCharsets.US_ASCII));
            reply.release();
        };
    }

    private ReplyTarget lead(String name) {
        return reads.lead(text("GET k"), KEY, client(name));
    }

    private boolean joins(String name) {
        return reads.join(text("GET k"), KEY, client(name));
    }

    @Test
    void readsInFlight_share_untilTheAnswer() {
        ReplyTarget leader = lead("a");
        assertThat(joins("b")).isTrue();
        assertThat(joins("c")).isTrue();
        assertThat(reads.join(text("GET x"), OTHER_KEY, client("d"))).isFalse();
        ByteBuf reply = text("1");
        leader.accept(reply);
        assertThat(answers).containsExactlyInAnyOrder("a=1", "b=1", "c=1");
        assertThat(reply.refCnt()).isZero();
        assertThat(joined.sum()).isEqualTo(2);
        assertThat(joins("e")).isFalse();
    }

    @Test
    void aWriteThatBegins_endsTheSharing_forGood() {
        lead("a");
        WriteStamps.Write write = stamps.begin(new int[] {KEY});
        assertThat(joins("b")).isFalse();
        write.end();
        assertThat(joins("c")).isFalse();
    }

    @Test
    void aReadSentDuringAWrite_isNotShared_evenAfterIt() {
        WriteStamps.Write write = stamps.begin(new int[] {KEY});
        ReplyTarget unshared = lead("a");
        assertThat(joins("b")).isFalse();
        write.end();
        // The read may have overtaken the write on another connection.
        assertThat(joins("c")).isFalse();
        unshared.accept(text("1"));
        assertThat(answers).containsExactly("a=1");
    }

    @Test
    void aReadAfterAWrite_isShared_whileTheOlderOneIsInFlight() {
        ReplyTarget old = lead("a");
        stamps.begin(new int[] {KEY}).end();
        ReplyTarget recent = lead("b");
        assertThat(joins("c")).isTrue();
        old.accept(text("old"));
        assertThat(joins("d")).isTrue();
        recent.accept(text("new"));
        assertThat(answers).containsExactlyInAnyOrder("a=old", "c=new", "d=new", "b=new");
    }

    @Test
    void aWriteToAnotherKey_endsNothing_andOneToAllKeysDoes() {
        lead("a");
        stamps.begin(new int[] {OTHER_KEY});
        assertThat(joins("b")).isTrue();
        WriteStamps.Write flush = stamps.begin(new int[0]);
        assertThat(joins("c")).isFalse();
        flush.end();
        assertThat(joins("d")).isFalse();
    }

    @Test
    void overlappingWrites_areCounted() {
        WriteStamps.Write first = stamps.begin(new int[] {KEY});
        WriteStamps.Write second = stamps.begin(new int[] {KEY, KEY});
        first.end();
        lead("a");
        assertThat(joins("b")).isFalse();
        second.end();
        lead("c");
        assertThat(joins("d")).isTrue();
    }
}
