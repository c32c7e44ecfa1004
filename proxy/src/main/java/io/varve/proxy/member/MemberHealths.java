package io.varve.proxy.member;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.varve.proxy.map.Endpoint;

/** The health of all members that the proxy has used. Thread-safe. */
public final class MemberHealths {
    private final Map<Endpoint, MemberHealth> byEndpoint = new ConcurrentHashMap<>();

    /** The health of a member, which is up until something fails. */
    public MemberHealth of(Endpoint endpoint) {
        return byEndpoint.computeIfAbsent(endpoint, _ -> new MemberHealth());
    }
}
