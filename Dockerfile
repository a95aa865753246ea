# The app with its judge. Add --gpus all to docker run for a GPU; without one it judges values only.
# Others can reach the app, so it judges only inside a sandbox. bubblewrap needs permission to make its namespaces:
#   docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined -p 127.0.0.1:8501:8501 IMAGE
FROM nvidia/cuda:13.0.1-base-ubuntu24.04

ENV DEBIAN_FRONTEND=noninteractive PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
# gcc and g++ build Triton's launchers; bubblewrap, mount and util-linux make the judge's sandbox; tini buries what ends
# there after its parent has
RUN apt-get update && apt-get install -y --no-install-recommends \
      python3 python3-venv python3-dev gcc g++ bubblewrap mount util-linux tini procps \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 10001 playground
WORKDIR /opt/passnet
RUN python3 -m venv .venv
COPY constraints.txt ./
# the largest packages first: Docker caches this layer when only the app changes
RUN .venv/bin/python -m pip install --constraint constraints.txt torch triton
# for a Ray cluster (docs/cluster.md): --build-arg EXTRAS=app,judge,llm,server,ray
ARG EXTRAS=app,judge,llm,server
RUN --mount=type=bind,target=/source,readwrite \
    .venv/bin/python -m pip install --constraint constraints.txt "/source[${EXTRAS}]"

# the recorded results in a store, so that the first start has them at once
RUN .venv/bin/passnet prepare

ENV PASSNET_HOME=/home/playground/passnet PASSNET_ISOLATION=sandboxed
RUN mkdir -p "$PASSNET_HOME" && chown playground:playground "$PASSNET_HOME"
USER playground
VOLUME ["/home/playground/passnet"]
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD [".venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD [".venv/bin/passnet", "app", "--address", "0.0.0.0", "--port", "8501"]
