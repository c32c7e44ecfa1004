package io.varve.cluster.testing;

import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.varve.cluster.client.MemberSession;
import io.varve.cluster.client.MemberState;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.ControllerAddress;

/** A member without a server. The test's thread sets its offset; the session's thread reads it. */
public final class TestMember implements MemberState, AutoCloseable {
    private final String id;
    private final MemberSession session;
    private final Queue<SlotMap> maps = new ConcurrentLinkedQueue<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private volatile long offset;

    public TestMember(List<ControllerAddress> controllers, Member self, long offset) {
        id = self.id();
        this.offset = offset;
        session = MemberSession.start(controllers, self, this);
    }

    public String id() {
        return id;
    }

    public MemberSession session() {
        return session;
    }

    public void setOffset(long newOffset) {
        offset = newOffset;
    }

    /** Whether it would accept writes: it is a primary, as it knows, and has a lease. */
    public boolean acceptsWrites() {
        Member self = session.map().member(id);
        return self != null && self.isPrimary() && session.hasLease();
    }

    public Queue<SlotMap> maps() {
        return maps;
    }

    public Queue<String> problems() {
        return problems;
    }

    @Override
    public long replicationOffset() {
        return offset;
    }

    @Override
    public void mapChanged(SlotMap map) {
        maps.add(map);
    }

    @Override
    public void leased(long untilNanos) {
        // The tests ask the session.
    }

    @Override
    public void removed(String reason) {
        problems.add(reason);
    }

    @Override
    public void refused(String reason) {
        problems.add(reason);
    }

    /** Ends its heartbeats without a word, as the death of its process does. */
    public void die() throws IOException {
        session.close();
    }

    @Override
    public void close() throws IOException {
        session.close();
    }
}
