package io.varve.server.tracking;

import java.util.List;

import io.varve.server.pubsub.Name;

/**
 * The options of CLIENT TRACKING. Immutable.
 *
 * @param redirect id of the client that receives the invalidations in its place; 0: itself
 * @param broadcasts whether it receives invalidations of all keys with its prefixes, read or not
 * @param optIn whether only keys of commands after CLIENT CACHING YES are remembered
 * @param optOut whether keys of commands after CLIENT CACHING NO are not remembered
 * @param noLoop whether it receives no invalidations of its own changes
 * @param prefixes key prefixes in broadcast mode, with bytes of their own: the empty one if it names none
 */
public record TrackingOptions(long redirect, boolean broadcasts, boolean optIn, boolean optOut, boolean noLoop,
        List<Name> prefixes) {
    public TrackingOptions {
        prefixes = List.copyOf(prefixes);
    }
}
