# One image for all services, one entry point a service: `docker run IMAGE table`, `wallet`, `bonus`, `history`,
# `gateway`; or `upcard …` for people. It writes nothing anywhere: run it with a read-only file system.

FROM python:3.13-slim AS built
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements-image.lock ./
RUN python -m venv /opt/upcard \
 && /opt/upcard/bin/python -m pip install --require-hashes --only-binary :all: -r requirements-image.lock
COPY libs libs
COPY services services
# Our own packages; what they stand on is in the lock.
RUN /opt/upcard/bin/python -m pip install --no-index --no-deps --no-build-isolation \
      ./libs/rules_core ./libs/eventstore ./libs/protos ./libs/servicekit ./libs/messaging ./libs/operate \
      ./libs/platform ./libs/seamless ./libs/conformance ./libs/transparency \
      ./services/table ./services/wallet ./services/bonus ./services/history ./services/gateway \
 && /opt/upcard/bin/python -m pip check

FROM python:3.13-slim
RUN groupadd --gid 10001 upcard \
 && useradd --uid 10001 --gid upcard --no-create-home --shell /usr/sbin/nologin upcard
COPY --from=built /opt/upcard /opt/upcard
COPY --chmod=0555 deploy/image/entrypoint /usr/local/bin/entrypoint
COPY LICENSE /usr/share/doc/upcard/LICENSE
ENV PATH=/opt/upcard/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/entrypoint"]
CMD ["upcard", "--help"]
