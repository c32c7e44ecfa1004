package io.varve.cluster.controller;

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
final class TestMember implements MemberState, AutoCloseable {
    private final String id;
    private final MemberSession session;
    private final Queue<SlotMap> maps = new ConcurrentLinkedQueue<>();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private volatile long offset;

    TestMember(List<ControllerAddress> controllers, Member self, long offset) {
        id = self.id();
        this.offset = offset;
        session = MemberSession.start(controllers, self, this);
    }

    String id() {
        return id;
    }

    MemberSession session() {
        return session;
    }

    void setOffset(long newOffset) {
        offset = newOffset;
    }

    /** Whether it would accept writes: it is a primary, as it knows, and has a lease. */
    boolean acceptsWrites() {
        Member self = session.map().member(id);
        return self != null && self.isPrimary() && session.hasLease();
    }

    Queue<SlotMap> maps() {
        return maps;
    }

    Queue<String> problems() {
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
    public void removed(String reason) {
        problems.add(reason);
    }

    @Override
    public void refused(String reason) {
        problems.add(reason);
    }

    @Override
    public void close() throws IOException {
        session.close();
    }
}
